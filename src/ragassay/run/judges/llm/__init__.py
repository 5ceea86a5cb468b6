"""A language model behind an OpenAI-compatible endpoint as a judge. Makes no claims of what it does not show."""
