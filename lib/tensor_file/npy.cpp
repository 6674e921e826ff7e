// npy
