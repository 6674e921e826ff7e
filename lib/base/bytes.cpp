// ByteBuffer's memory.
