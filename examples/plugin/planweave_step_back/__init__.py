"""A method, a tool and a suite that planweave finds by their entry points."""
