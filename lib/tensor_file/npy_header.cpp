// npy_header
