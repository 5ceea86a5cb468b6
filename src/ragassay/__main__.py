"""`python -m ragassay`: the command line."""

from ragassay.cli import main

if __name__ == "__main__":
    main()
