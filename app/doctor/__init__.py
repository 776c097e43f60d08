"""The doctor: whether an installation is well, and what to do where it is not.

A check looks at one thing and says what it has found. Nothing is made or changed by it, and nothing
is sent anywhere but to this machine and its database, unless a model is to be asked.
"""
