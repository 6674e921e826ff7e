// host_tensor
