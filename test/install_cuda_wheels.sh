#!/usr/bin/env bash
# install_cuda_wheels.sh FOLDER: puts nvcc, ptxas, NVRTC and the CUDA headers into FOLDER from NVIDIA's Python wheels,
# for a machine without the CUDA toolkit. FOLDER/lib/cuda is then what CUDA_HOME should name. cuBLASLt (600 MB) is left
# out: it is opened at run time, on a machine with a GPU, and nothing is built against it.
set -euo pipefail
folder=$1

if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
  echo "python3-venv is needed; run: apt-get update && apt-get install -y --no-install-recommends python3-venv" >&2
  [ "$(id -u)" -eq 0 ] || exit 3
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv </dev/null >&2
fi
[ -x "$folder/bin/pip" ] || python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check 'nvidia-cuda-nvcc==13.0.*' 'nvidia-nvvm==13.0.*' \
  'nvidia-cuda-crt==13.0.*' 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-nvrtc==13.0.*' 'nvidia-cuda-cccl==13.0.*'
ln -sfn "$("$folder/bin/python" -c 'import nvidia; print(list(nvidia.__path__)[0])')/cu13" "$folder/lib/cuda"
chmod +x "$folder"/lib/cuda/bin/* "$folder"/lib/cuda/nvvm/bin/*
"$folder/lib/cuda/bin/nvcc" --version | tail -n 1
