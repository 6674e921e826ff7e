#!/usr/bin/env bash
# ceilings.sh BIN_FOLDER [WORD]: ge-run --measure-ceilings: what is kept and where, the floor of each launch in --profile, and what
# is refused. Cases as in faults.sh.
set -uo pipefail
# shellcheck source=test/cli/cases.sh
. "$(dirname "$0")/cases.sh"
export XDG_CACHE_HOME=$work/cache
compiled m '{"format":"ge-graph/1","opset":21,"inputs":[{"name":"x","dtype":"float32","shape":[64,64]}],"nodes":[{"op":"MatMul","inputs":["x","x"],"outputs":["a"]},{"op":"Relu","inputs":["a"],"outputs":["b"]},{"op":"Softmax","inputs":["b"],"outputs":["y"]}],"outputs":["y"]}'

fault 'a profile before' 0 'note: the floor of each launch is told once --measure-ceilings|time us' ge-run m.bin -d cpu --threads 1 --profile
if grep -q 'floor us' "$temporary/out"; then echo 'FAILED: a floor without ceilings'; failed=$((failed + 1)); fi
fault 'measured' 0 '1 thread|GB/s, a copy|us, the shortest launch|TFLOP/s, float32 products' ge-run --measure-ceilings -d cpu --threads 1
fault 'kept where it is usual' 0 'ge-ceilings/1|device |, 1 thread|gb_per_s |launch_us |tflop_per_s_f32 ' cat cache/ge/ceilings.txt
fault 'a profile behind' 0 'floor us|of floor' ge-run m.bin -d cpu --threads 1 --profile
fault 'a number of threads that was not measured' 0 'note: the floor of each launch' ge-run m.bin -d cpu --threads 2 --profile
fault 'as JSON' 0 '"floor_us"|"time_us"' ge-run m.bin -d cpu --threads 1 --profile --json
fault 'measured as JSON' 0 '"ceilings"|"gb_per_s"|"device"' ge-run --measure-ceilings -d cpu --threads 1 --json
fault 'measured for this profile' 0 'of floor' ge-run m.bin -d cpu --threads 2 --profile --measure-ceilings --ceilings new/folder/c.txt
fault 'kept where asked' 0 ', 2 threads' cat new/folder/c.txt
fault 'nowhere to keep them' 0 'note: the ceilings are not kept' env -u HOME -u XDG_CACHE_HOME ge-run --measure-ceilings -d cpu --threads 1

# --- by numbers that are known: 64 x 64 products are 524288 FLOPs, a softmax moves 32768 bytes
printf 'ge-ceilings/1\ndevice another\ngb_per_s 1\n\n%s\ngb_per_s 0.001\nlaunch_us 3\ntflop_per_s_f32 0.00001\n' "$(grep '^device' cache/ge/ceilings.txt)" >known.txt
ge-run m.bin -d cpu --threads 1 --profile --json --ceilings known.txt 2>/dev/null | grep -o '"floor_us": [0-9.]*' >floors
fault 'floors by FLOPs and by bytes' 0 '"floor_us": 52428|"floor_us": 32768' cat floors
sed -i 's/^gb_per_s 0.001/gb_per_s 100000/; s/^tflop.*//' known.txt
fault 'floors by launches' 0 '"floor_us": 3.0' ge-run m.bin -d cpu --threads 1 --profile --json --ceilings known.txt
fault 'measured again' 0 '1 thread' ge-run --measure-ceilings -d cpu --threads 1 --ceilings known.txt
fault 'another device stays' 0 'device another|gb_per_s 1.0' cat known.txt
[ "$(grep -c '^device' known.txt)" -eq 2 ] || { echo 'FAILED: a device stands twice'; failed=$((failed + 1)); }

compiled d '{"format":"ge-graph/1","opset":21,"inputs":[{"name":"x","dtype":"float32","shape":[64,64]},{"name":"z","dtype":"float64","shape":[64,64]}],"nodes":[{"op":"MatMul","inputs":["x","x"],"outputs":["y"]},{"op":"MatMul","inputs":["z","z"],"outputs":["w"]}],"outputs":["y","w"]}'
ge-run d.bin -d cpu --threads 1 --profile --json --ceilings known.txt 2>/dev/null | sed -n '/"profile"/,$p' | grep -o '"dtype": "[a-z0-9]*"' | sort >types
fault 'the types that FLOPs are of' 0 'dtype: float32 float64' sh -c 'echo dtype: $(cut -d\" -f4 types)'

# --- what is refused
fault 'no such file' 3 'E0101|none.txt' ge-run m.bin -d cpu --profile --ceilings none.txt
printf 'something\n' >bad.txt
fault 'another file' 1 'E0207|bad.txt:1|"ge-ceilings/1"' ge-run m.bin -d cpu --profile --ceilings bad.txt
fault 'another file is not overwritten' 1 'E0207|bad.txt:1' ge-run --measure-ceilings -d cpu --ceilings bad.txt
printf 'ge-ceilings/1\ngb_per_s 1\n' >bad.txt
fault 'a number of no device' 1 'E0204|bad.txt:2' ge-run m.bin -d cpu --profile --ceilings bad.txt
printf 'ge-ceilings/1\ndevice x\ngb 1\n' >bad.txt
fault 'an unknown number' 1 'E0204|bad.txt:3|"gb 1"' ge-run m.bin -d cpu --profile --ceilings bad.txt
for value in nan -1 1x inf ''; do
  printf 'ge-ceilings/1\ndevice x\ngb_per_s %s\n' "$value" >bad.txt
  fault "a number that is '$value'" 1 'E0206|bad.txt:3|a number from 0 up' ge-run m.bin -d cpu --profile --ceilings bad.txt
done
fault 'a folder' 3 'E0105' ge-run m.bin -d cpu --profile --ceilings .
fault 'nowhere to write' 3 'E0103' ge-run --measure-ceilings -d cpu --threads 1 --ceilings /dev/null/x
fault 'a plan that is not profiled' 2 'E0110|--profile' ge-run m.bin --measure-ceilings
fault 'a file for nothing' 2 'E0110|one of them is needed' ge-run m.bin --ceilings c.txt
fault 'no plan to run' 2 'E0110|--measure-ceilings without a plan takes' ge-run --measure-ceilings --bench
fault 'nothing at all' 2 'E0110|a plan is needed' ge-run
finish
