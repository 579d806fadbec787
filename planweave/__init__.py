"""What every floor of the house may import: the version and the base of all errors."""

from planweave.errors import PlanweaveError

__all__ = ["PlanweaveError", "__version__"]
__version__ = "0.1.0"
