// Error: kind, frames, text.
