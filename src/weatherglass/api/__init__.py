"""The main functions of the library: each combines rooms, such as an audit and its page.

They are called as `weatherglass.run` and `weatherglass.study`.
"""
