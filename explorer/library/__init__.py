"""Public functions of the package: a question in, a frozen result out."""
