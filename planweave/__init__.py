"""What every floor of the house may import: the version and the base of all errors."""

from planweave.errors import BadInput, PlanweaveError

__all__ = ["BadInput", "PlanweaveError", "__version__"]
__version__ = "0.1.0"
