// Facts of element types.
