"""``planweave dqa``: the published Decision QA data."""
