"""What the author of an extension runs against it: one module a kind, one `check_KIND` each. Needs no pytest.

Each check calls the extension as the product calls it and raises ContractError (an error with a hint) for the first
promise that it breaks. `examples/extensions/` has one package of each kind with the test that runs its check.
"""
