"""Every prompt, one file a family, and the small loader."""

from planweave.prompts.template import PromptError, Template, load, names, sections

__all__ = ["PromptError", "Template", "load", "names", "sections"]
