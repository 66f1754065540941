"""The Agent Flow Language: typed facets, work done by agents, and workflows of both."""
