// Error codes as data, and the text of a Diagnostic.
