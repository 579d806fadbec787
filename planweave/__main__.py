"""``python -m planweave``: the command line."""

from planweave.apps.cli.main import main

if __name__ == "__main__":
    main()
