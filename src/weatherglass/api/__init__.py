"""The main functions of the library, which combine rooms, such as an audit and its page.

They are called as `weatherglass.run` and `weatherglass.study`.
"""
