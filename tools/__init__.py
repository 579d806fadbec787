"""Tools that are safe by themselves and work without any language model."""

from planweave.tools.calculator import CalculationFailed as CalculationFailed
from planweave.tools.calculator import calculate as calculate
from planweave.tools.calculator import is_unit as is_unit
from planweave.tools.connect import open_database as open_database
from planweave.tools.database import Database as Database
from planweave.tools.database import DatabaseUnavailable as DatabaseUnavailable
from planweave.tools.database import Limits as Limits
from planweave.tools.database import QueryFailed as QueryFailed
from planweave.tools.database import QueryRefused as QueryRefused
from planweave.tools.database import QueryResult as QueryResult
from planweave.tools.database import QueryTimeout as QueryTimeout
from planweave.tools.database import RoleTooPowerful as RoleTooPowerful
from planweave.tools.result_text import result_text as result_text
from planweave.tools.schema_text import schema_text as schema_text
from planweave.tools.suggest import nearest as nearest
