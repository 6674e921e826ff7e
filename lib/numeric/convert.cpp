// Array conversions.
