"""Every prompt as a file, and the small loader."""

from planweave.prompts.template import PromptError, Template, load

__all__ = ["PromptError", "Template", "load"]
