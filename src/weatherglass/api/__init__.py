"""The functions that users call: each combines several packages, such as an audit and its page."""
