"""The interfaces: command line, server, studio and protocols."""
