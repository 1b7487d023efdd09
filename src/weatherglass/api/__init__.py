"""The doors of the library: each function puts rooms together, such as an audit and then its page.

They are called as `weatherglass.run` and `weatherglass.study`.
"""
