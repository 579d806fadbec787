"""``python -m planweave``: the command line."""

from planweave.apps.cli import main

if __name__ == "__main__":
    main()
