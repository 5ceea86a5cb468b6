"""The nouns of the product, frozen, with canonical bytes. Each module says what it holds."""
