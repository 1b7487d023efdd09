"""Provide the main functions of the library, which combine several parts of it, such as an audit and its page.

The functions are called as `weatherglass.run` and `weatherglass.study`.
"""
