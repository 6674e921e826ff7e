#!/usr/bin/env bash
# faults.sh BIN_FOLDER [WORD]: what the programs say and return when something is wrong. Each case states the exit code, the
# error's code and words that must stand in the message. With WORD only the cases whose name holds it run.
set -uo pipefail
# shellcheck source=test/cli/cases.sh
. "$(dirname "$0")/cases.sh"
relu='{"name":"a","op":"Relu","inputs":["x"],"outputs":["y"]}'

# --- files
fault 'missing file' 3 'E0101|none.json|fix: check the path' ge-compile none.json -o g.bin -t cpu
mkdir folder
fault 'a directory' 3 'E0105|folder' ge-compile folder -o g.bin -t cpu
: >empty.json
fault 'empty file' 1 'E0216|empty.json' ge-compile empty.json -o g.bin -t cpu
graph 'not JSON' 'E0201|g.json:2:3' $'\n  hello'
graph 'JSON cut off' 'E0201|g.json:1:' '{"format":"ge-graph/1",'
head -c 200000 /dev/zero | tr '\0' '[' >deep.json
fault 'depth bomb' 1 'E0202|deep.json' ge-compile deep.json -o g.bin -t cpu
graph 'format tag' 'E0207|g.json:1:11|ge-graph/1' '{"format":"ge-graph/9","inputs":[],"outputs":[],"nodes":[]}'
graph 'missing key' 'E0205|nodes' '{"format":"ge-graph/1","inputs":[],"outputs":[]}'
graph 'duplicate key' 'E0203|g.json:1:|op' "$(one '{"name":"a","op":"Relu","op":"Abs","inputs":["x"],"outputs":["y"]}')"
graph 'duplicate attribute' 'E0203|/nodes/0/attributes/axis' "$(one '{"op":"Softmax","inputs":["x"],"outputs":["y"],"attributes":{"axis":0,"axis":1}}')"
graph 'unknown key' 'E0204|/nodes/0|output|outputs' "$(one '{"name":"a","op":"Relu","inputs":["x"],"output":["y"],"outputs":["y"]}')"
graph 'wrong JSON type' 'E0206|/nodes/0/op' "$(one '{"name":"a","op":3,"inputs":["x"],"outputs":["y"]}')"
graph 'unknown dtype' 'E0208|/inputs/0/dtype|float32' '{"format":"ge-graph/1","inputs":[{"name":"x","dtype":"float","shape":[2]}],"outputs":["y"],"nodes":['"$relu"']}'

# --- names and structure
graph 'duplicate value' 'E0210|y' "$(one "$relu,{\"name\":\"b\",\"op\":\"Abs\",\"inputs\":[\"x\"],\"outputs\":[\"y\"]}")"
graph 'duplicate node name' 'E0210|a' "$(one "$relu,{\"name\":\"a\",\"op\":\"Abs\",\"inputs\":[\"x\"],\"outputs\":[\"z\"]}")"
graph 'undefined value' 'E0211|hidden1|hidden2' "$(one '{"name":"a","op":"Relu","inputs":["x"],"outputs":["hidden2"]},{"name":"b","op":"Abs","inputs":["hidden1"],"outputs":["y"]}')"
graph 'undefined output' 'E0211|fix: use the name of|/outputs/0' '{"format":"ge-graph/1","inputs":[{"name":"x","dtype":"float32","shape":[2]}],"outputs":["q"],"nodes":['"$relu"']}'
graph 'cycle' "E0212|Add 'left' -> Relu 'right' -> Add 'left'|fix: break the ring" "$(one '{"name":"left","op":"Add","inputs":["x","r"],"outputs":["l"]},{"name":"right","op":"Relu","inputs":["l"],"outputs":["r"]},{"name":"out","op":"Abs","inputs":["r"],"outputs":["y"]}')"
branch() { printf '{"graph":{"nodes":[{"op":"%s","inputs":["x"],"outputs":["%s"]}],"outputs":["%s"]}}' "$1" "$2" "$2"; }
printf '%s' "$(one "{\"op\":\"If\",\"inputs\":[\"c\"],\"outputs\":[\"y\"],\"attributes\":{\"then_branch\":$(branch Relu y),\"else_branch\":$(branch Neg z)}}" '{"name":"c","dtype":"bool","shape":[],"data":[true]}')" >g.json
fault 'a name of the graph in a subgraph, and no cycle' 1 'E0210|/then_branch/graph/nodes/0/outputs/0|one error' bash -c 'ge-compile g.json -o g.bin -t cpu; code=$?; [ "$(ge-compile g.json -o g.bin -t cpu 2>&1 | grep -c "^error")" -eq 1 ] && echo one error; exit $code'
graph 'all faults at once' 'E0208|/inputs/1/dtype|E0211|hidden|E0204|/nodes/0/attribute' '{"format":"ge-graph/1","inputs":[{"name":"x","dtype":"float32","shape":[2]},{"name":"z","dtype":"flot","shape":[2]}],"outputs":["y"],"nodes":[{"name":"a","op":"Add","inputs":["x","hidden"],"outputs":["y"],"attribute":{}}]}'

# --- operators
graph 'unknown op' 'E0301|Relus|Relu' "$(one '{"name":"a","op":"Relus","inputs":["x"],"outputs":["y"]}')"
graph 'unknown attribute' 'E0302|axes|axis' "$(one '{"name":"a","op":"Softmax","inputs":["x"],"outputs":["y"],"attributes":{"axes":1}}')"
graph 'attribute type' 'E0303|axis' "$(one '{"name":"a","op":"Softmax","inputs":["x"],"outputs":["y"],"attributes":{"axis":"last"}}')"
graph 'missing attribute' 'E0304|to' "$(one '{"name":"a","op":"Cast","inputs":["x"],"outputs":["y"]}')"
graph 'operand count' 'E0306' "$(one '{"name":"a","op":"Relu","inputs":["x","x","x"],"outputs":["y"]}')"
graph 'axis out of range' 'E0312|g.json:1:|axis|4|-2' "$(one '{"name":"a","op":"Softmax","inputs":["x"],"outputs":["y"],"attributes":{"axis":4}}')"
graph 'no broadcast' 'E0311|3|4' "$(one '{"name":"a","op":"Add","inputs":["x","w"],"outputs":["y"]}' '{"name":"w","dtype":"float32","shape":[4],"data":[1,2,3,4]}')"
graph 'matmul sizes' 'E0310|3|4' "$(one '{"name":"a","op":"MatMul","inputs":["x","w"],"outputs":["y"]}' '{"name":"w","dtype":"float32","shape":[4,2],"data":{"fill":1}}')"
graph 'dtypes differ' 'E0308' "$(one '{"name":"a","op":"Add","inputs":["x","w"],"outputs":["y"]}' '{"name":"w","dtype":"int32","shape":[3],"data":[1,2,3]}')"

# --- dims
graph 'negative dim' 'E0209|-2' "$(one "$relu" '' '[-2]')"
graph 'overflowing dims' 'E0315' "$(one "$relu" '' '[4294967296,4294967296,4294967296]')"
graph 'dims beside a 0 that overflow' 'E0315' "$(one "$relu" '' '[4611686018427387904,0,4611686018427387904]')"
compiled empty "$(one "$relu" '' '[36028797018963968,0,3]')"
fault 'the largest dims beside a 0' 0 'output' ge-run empty.bin
graph 'number beyond int64' 'E0201|g.json:1:|18446744073709551616' "$(one "$relu" '' '[18446744073709551616]')"
graph 'bad dim expression' 'E0209|n +' "$(one "$relu" '' '["n +"]')"

printf '%s' "$(one "$relu" '' '["n - 2"]')" >negative.json
ge-compile negative.json -o negative.bin -t cpu >"$temporary/out" 2>&1 || { cat "$temporary/out"; failed=$((failed + 1)); }
fault 'a size that is negative for this dim' 1 'E0605|input "x"|axis 0: n-2 is -1 with n = 1 (allowed 0 and up)' ge-run negative.bin --dim n=1
graph 'control characters in a name are shown, not sent' 'E0301|Re\x1b[31mlu' "$(one '{"name":"a","op":"Re\u001b[31mlu","inputs":["x"],"outputs":["y"]}')"

# --- weights
w() { printf '{"name":"w","dtype":"float32","shape":[3],"data":{"file":"%s"%s}}' "$1" "${2:-}"; }
add='{"name":"a","op":"Add","inputs":["x","w"],"outputs":["y"]}'
graph 'too few values' 'E0213|/initializers/0' "$(one "$add" '{"name":"w","dtype":"float32","shape":[3],"data":[1,2]}')"
printf '%s' "$(one "$add" "$(w none.npy)")" >g.json
fault 'weights missing' 3 'E0101|none.npy' ge-compile g.json -o g.bin -t cpu
npy ../outside.npy '<f4' '(3,)' 12
graph 'weights outside the folder' 'E0214|outside.npy' "$(one "$add" "$(w ../outside.npy)")"
ln -s ../outside.npy link.npy
graph 'weights behind a link' 'E0214|link.npy' "$(one "$add" "$(w link.npy)")"
npy short.npy '<f4' '(3,)' 8
graph 'weights cut off' 'E0215|short.npy' "$(one "$add" "$(w short.npy)")"
npy shape.npy '<f4' '(4,)' 16
graph 'weights of another shape' 'E0213|shape.npy' "$(one "$add" "$(w shape.npy)")"
head -c 8 "$root/examples/mlp/mlp.safetensors" >cut.safetensors
graph 'safetensors cut off' 'E0215|cut.safetensors' "$(one "$add" "$(w cut.safetensors ',"tensor":"w"')")"

# --- usage
fault 'unknown flag' 2 '--no-such' ge-compile g.json --no-such
fault 'unknown target' 2 'E0404|sm_9|sm_89' ge-compile "$root/examples/mlp/mlp.json" -o g.bin -t sm_9
fault 'unknown pass' 2 'E0405|fuse_epilogue|fuse_epilogues' ge-compile "$root/examples/mlp/mlp.json" -o g.bin -t cpu --disable-pass fuse_epilogue
fault 'unknown pass among those to run' 2 'E0405|fuse_epilogue|fuse_epilogues' ge-compile "$root/examples/mlp/mlp.json" -o g.bin -t cpu --passes canonicalize,fuse_epilogue
fault 'no arguments' 2 '' ge-run
fault 'operators that are not lowered' 1 'E0403|/nodes/0|Gemm is not lowered to core ops: canonicalize did not run|leave canonicalize' ge-compile "$root/examples/mlp/mlp.json" -o g.bin -t cpu --disable-pass canonicalize
fault 'exact and lossy at once' 2 'E0110|--exact and --allow' ge-compile "$root/examples/mlp/mlp.json" -o g.bin -t cpu --exact --allow tf32

# --- writing
mlp=$root/examples/mlp
fault 'folder does not exist' 3 'E0103|nowhere' ge-compile "$mlp/mlp.json" -o nowhere/p.bin -t cpu
fault 'disk full' 3 'E0103|/dev/full' ge-compile "$mlp/mlp.json" -o /dev/full -t cpu
fault 'a plan through a pipe' 0 'written' bash -c "ge-compile '$mlp/mlp.json' -o /dev/stdout -t cpu 2>/dev/null | cat | head -c 8 | grep -qa GEPLAN && echo written"
mkdir -p taken.json
fault 'a graph whose text cannot be written leaves no weights' 3 'E0105' bash -c "ge-compile '$mlp/mlp.json' --emit graph -o taken.json; code=\$?; [ ! -e taken.safetensors ] || exit 99; exit \$code"
for program in ge-compile ge-run ge-inspect; do
  fault "$program's help to a full disk" 3 'E0103' bash -c "$program --help >/dev/full"
  fault "$program's version to a full disk" 3 'E0103' bash -c "$program --version >/dev/full"
done
fault 'talk to a full disk' 0 'there' bash -c "ge-compile '$mlp/mlp.json' -o talk.bin -t cpu --explain 2>/dev/full && ge-run talk.bin --dim batch=1 2>/dev/full && echo there"
fault 'talk to a closed stream' 0 'there' bash -c "ge-compile '$mlp/mlp.json' -o talk.bin -t cpu 2>&- && ge-run talk.bin 2>&- && echo there"
fault 'wrong usage to a full disk' 0 '2 2 2' bash -c 'for p in ge-compile ge-run ge-inspect; do $p --none 2>/dev/full; printf "%s " $?; done'
fault 'lists to a full disk' 3 'E0103' bash -c 'ge-compile --list-ops >/dev/full'
fault 'JSON lists to a full disk' 3 'E0103' bash -c 'ge-compile --list-passes --json >/dev/full'
fault 'check to a full disk' 3 'E0103' bash -c "ge-compile '$mlp/mlp.json' --check >/dev/full"
ge-compile "$mlp/mlp.json" -o mlp.bin -t cpu >"$temporary/out" 2>&1 || { cat "$temporary/out"; exit 1; }
before=$(sha256sum <mlp.bin)
printf '%s' "$(one '{"name":"a","op":"Relus","inputs":["x"],"outputs":["y"]}')" >g.json
fault 'old plan stays whole' 1 'E0301' ge-compile g.json -o mlp.bin -t cpu
[ "$(sha256sum <mlp.bin)" = "$before" ] || { echo "FAILED: the old plan changed"; failed=$((failed + 1)); }

# --- what is read is not written over
cp "$mlp/mlp.json" "$mlp/mlp.safetensors" "$mlp/x.npy" "$mlp/expected.npy" .
sums() { sha256sum mlp.json mlp.safetensors x.npy expected.npy mlp.bin; }
before=$(sums)
ln -sf x.npy also-x.npy
fault 'a plan over its graph' 2 'E0110|mlp.json' ge-compile mlp.json -o ./mlp.json -t cpu
fault 'a plan over its weights' 2 'E0110|mlp.safetensors' ge-compile mlp.json -o mlp.safetensors -t cpu
fault 'a graph over its own weights' 2 'E0110|mlp.safetensors' ge-compile mlp.json --emit graph -o "../$(basename "$PWD")/mlp.json"
fault 'a plan over what is frozen' 2 'E0110|x.npy' ge-compile mlp.json -o x.npy -t cpu --dim batch=4 --freeze x=x.npy
fault 'an output over its input' 2 'E0110|x.npy|-i x' ge-run mlp.bin -i x=x.npy -o y=x.npy
fault 'an output over its input, through a link' 2 'E0110|-i x' ge-run mlp.bin -i x=x.npy -o y=also-x.npy
fault 'an output over what is expected' 2 'E0110|--expect y' ge-run mlp.bin -i x=x.npy --expect y=expected.npy -o ./expected.npy
fault 'an output over the plan' 2 'E0110|the plan' ge-run mlp.bin -i x=x.npy -o mlp.bin
fault 'a trace over the plan' 2 'E0110|the plan' ge-run mlp.bin -i x=x.npy --profile=mlp.bin
fault 'a trace over an output' 2 'E0110|two outputs' ge-run mlp.bin -i x=x.npy -o ./y.npy --profile=y.npy
[ "$(sums)" = "$before" ] || { echo 'FAILED: what was read has changed'; failed=$((failed + 1)); }
fault 'an output on standard output' 0 'same' bash -c 'ge-run mlp.bin -i x=x.npy -o - 2>/dev/null >out.npy; ge-run mlp.bin -i x=x.npy -o y=named.npy 2>/dev/null; [ ! -e - ] && cmp out.npy named.npy && echo same'
fault 'standard output for two' 2 'E0110|--json|-o -' ge-run mlp.bin -i x=x.npy -o - --json

# --- the environment
fault 'GE_THREADS is no number' 2 'E0110|GE_THREADS|"abc"' env GE_THREADS=abc ge-run mlp.bin
fault 'GE_THREADS is no number, compiling' 2 'E0110|GE_THREADS' env GE_THREADS=-1 ge-compile mlp.json -o g.bin -t cpu
fault 'GE_THREADS' 0 '' env GE_THREADS=1 GE_ONEDNN=off GE_NVRTC= GE_CUBLASLT= ge-run mlp.bin
fault 'GE_ONEDNN names no file' 3 'E0106|GE_ONEDNN|./none.so' env GE_ONEDNN=./none.so ge-run mlp.bin
fault 'GE_ONEDNN misspelt' 3 'E0106|GE_ONEDNN|fix: unset GE_ONEDNN' env GE_ONEDNN=none ge-run mlp.bin
fault 'GE_CUBLASLT names no file' 3 'E0106|GE_CUBLASLT|./none.so' env GE_CUBLASLT=./none.so ge-run mlp.bin
fault 'GE_NVRTC names no file' 3 'E0106|GE_NVRTC|./none.so' env GE_NVRTC=./none.so ge-compile mlp.json -o g.bin -t cpu

# --- plans
printf 'not a plan at all, but long enough to hold a header of a plan file' >text.bin
fault 'not a plan' 1 'E0501|text.bin' ge-run text.bin
fault 'a graph instead of a plan' 1 'E0501' ge-run "$mlp/mlp.json"
head -c 3000 mlp.bin >cut.bin
fault 'plan cut off' 1 'E0503|cut.bin' ge-run cut.bin
fault 'plan cut off, inspected' 1 'E0503|cut.bin' ge-inspect cut.bin
: >none.bin
fault 'empty plan' 1 'none.bin' ge-run none.bin

# --- inputs
npy ok.npy '<f4' '(4, 16)' 256
fault 'unknown input' 1 'E0601|z|x' ge-run mlp.bin -i z=ok.npy
npy f8.npy '<f8' '(4, 16)' 512
fault 'input dtype' 1 'E0602|float64|float32' ge-run mlp.bin -i x=f8.npy
npy s.npy '<f4' '(4, 15)' 240
fault 'input shape' 1 'E0603|15|16' ge-run mlp.bin -i x=s.npy
npy big.npy '<f4' '(65, 16)' 4160
fault 'dim out of range' 1 'E0605|batch|65|64' ge-run mlp.bin -i x=big.npy
fault 'dim given out of range' 1 'E0605|batch|0' ge-run mlp.bin --dim batch=0
fault 'unknown dim' 1 'E0612|bach|batch' ge-run mlp.bin --dim bach=2
fault 'two values for a dim' 1 'E0604|batch' ge-run mlp.bin -i x=ok.npy --dim batch=3
fault 'input missing' 3 'E0101|no.npy' ge-run mlp.bin -i x=no.npy
npy obj.npy '|O' '(4, 16)' 512
fault 'npy of objects' 1 'E0215|obj.npy' ge-run mlp.bin -i x=obj.npy
npy be.npy '>f4' '(4, 16)' 256
fault 'npy big-endian' 1 'E0215|be.npy' ge-run mlp.bin -i x=be.npy
npy tr.npy '<f4' '(4, 16)' 250
fault 'npy cut off' 1 'E0215|tr.npy' ge-run mlp.bin -i x=tr.npy
npy fo.npy '<f4' '(4, 16)' 256 True
fault 'npy in Fortran order is read' 0 '' ge-run mlp.bin -i x=fo.npy
printf '%s' "$(one "$relu" '' '[2,3]')" >two.json
ge-compile two.json -o two.bin -t cpu >"$temporary/out" 2>&1 || { cat "$temporary/out"; failed=$((failed + 1)); }
npy order.npy '<f4' '(2, 3)' 0 True
printf '\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40\x00\x00\xa0\x40\x00\x00\xc0\x40' >>order.npy  # 1 .. 6, columns first
fault 'npy in Fortran order is read right' 0 '1 3 5 2' ge-run two.bin -i x=order.npy
fault 'unknown output' 1 'E0611|q' ge-run mlp.bin -i x=ok.npy -o q=q.npy
fault 'output folder missing' 3 'E0103|nowhere' ge-run mlp.bin -i x=ok.npy -o y=nowhere/y.npy
fault 'runs to count without a measurement' 2 'E0110|--iterations counts the runs of --bench' ge-run mlp.bin --iterations 10
fault 'cold caches without a measurement' 2 'E0110|how --bench measures' ge-run mlp.bin --cold
fault 'a dry run with dims' 2 'E0110|--dry-run looks at the plan' ge-run mlp.bin --dry-run --dim batch=3
fault 'a dry run that measures' 2 'E0110|--dry-run runs nothing' ge-run mlp.bin --dry-run --bench
fault 'a tolerance of no comparison' 2 'E0110|how --expect compares' ge-run mlp.bin --rtol 1e-3
fault 'threads that are no number' 2 'E0110|--threads|found x, allowed a whole number of 0 to 4096' ge-run mlp.bin --threads x
fault 'a level out of range' 2 'E0110|found 4, allowed a whole number of 0 to 3' ge-compile "$mlp/mlp.json" -o never.bin -O 4
fault 'a check that writes' 2 'E0110|--check writes nothing' ge-compile "$mlp/mlp.json" --check -o never.bin
fault 'one plan to compare' 2 'E0110|diff takes two plans' ge-inspect diff mlp.bin
fault 'CUDA code of a CPU' 0 'note: no target of cpu has generated CUDA code' ge-compile "$mlp/mlp.json" --emit cuda -t cpu -o none.cu
fault 'output to a full disk' 3 'E0103|/dev/full' ge-run mlp.bin -i x=ok.npy -o y=/dev/full
fault 'results differ' 4 'E0610|y' ge-run mlp.bin -i x=ok.npy --expect y="$mlp/expected.npy"
fault 'results agree' 0 '' ge-run mlp.bin -i x="$mlp/x.npy" --expect y="$mlp/expected.npy"
printf '%s' "$(one '{"name":"a","op":"Log","inputs":["x"],"outputs":["y"]}')" >log.json
ge-compile log.json -o log.bin -t cpu >"$temporary/out" 2>&1 || { cat "$temporary/out"; failed=$((failed + 1)); }
npy zeros.npy '<f4' '(2, 3)' 24
fault 'NaN against a number' 4 'E0610|6 of 6 elements differ|6 NaN against a number| nan ' ge-run log.bin -i x=-1,-1,-1,-1,-1,-1 --expect y=zeros.npy
fault 'an infinity against a number' 4 'largest error inf absolute, inf relative)|-inf' ge-run log.bin -i x=1,1,0,1,1,1 --expect y=zeros.npy
fault 'one launch' 0 'cpu: 1 launch, 1 kernel, ' ge-compile log.json -o log.bin -t cpu
fault 'tolerance NaN' 2 'E0110|--rtol|nan' ge-run mlp.bin --rtol nan
fault 'tolerance negative' 2 'E0110|--atol|-1' ge-run mlp.bin --atol=-1
fault 'tolerance infinite' 2 'E0110|--rtol|inf' ge-run mlp.bin --rtol inf
fault 'a duration that is no number' 2 'E0110|--duration|nan' ge-run mlp.bin --bench --duration nan
fault 'output without a file' 2 'E0110|-o y=' ge-run mlp.bin -i x=ok.npy -o y=
fault 'output without a name' 2 'E0110|-o =y.npy' ge-run mlp.bin -i x=ok.npy -o =y.npy
printf '%s' '{"format":"ge-graph/1","name":"t","opset":21,"inputs":[{"name":"a\u001b[2Jb","dtype":"float32","shape":[2]}],"outputs":["y"],"nodes":[{"op":"Neg","inputs":["a\u001b[2Jb"],"outputs":["y"]}]}' >esc.json
ge-compile esc.json -o esc.bin -t cpu >"$temporary/out" 2>&1 || { cat "$temporary/out"; failed=$((failed + 1)); }
fault 'control characters in a name' 0 'a\x1b[2Jb' ge-run esc.bin
fault 'control characters in a plan' 0 'a\x1b[2Jb' ge-inspect esc.bin
printf '%s' '{"format":"ge-graph/1","name":"t\ng","opset":21,"inputs":[{"name":"x\nnote: all is well","dtype":"float32","shape":["'\''b\tc'\''",4]}],"outputs":["y\nz"],"nodes":[{"name":"no\nde\u0085","op":"Softmax","inputs":["x\nnote: all is well"],"outputs":["y\nz"]}]}' >line.json
fault 'a line end in a name, explained' 0 'no\nde\xc2\x85 ' ge-compile line.json -o line.bin -t cpu --explain
fault 'a line end in a name, run' 0 "y\nz|x\nnote: all is well[" ge-run line.bin
fault 'a line end in a name, inspected' 0 "x\nnote: all is well  float32[b\tc,4]|-> y\nz" ge-inspect line.bin
sed 's/Softmax/Softmix/' line.json >bad-line.json
fault 'a line end in a name, refused' 1 "E0301|Softmix 'no\nde\xc2\x85'" ge-compile bad-line.json -o g.bin -t cpu
fault 'a line end in a name, checked' 1 'no\nde\xc2\x85 ' ge-compile bad-line.json --check
! grep -l '^note: all is well' "$temporary/out" || { echo 'FAILED: a name made a line of its own'; failed=$((failed + 1)); }

# --- at run time
printf '%s' '{"format":"ge-graph/1","name":"t","opset":21,"inputs":[{"name":"x","dtype":"float32","shape":[4]},{"name":"i","dtype":"int64","shape":[2]}],"outputs":["y"],"nodes":[{"name":"pick","op":"Gather","inputs":["x","i"],"outputs":["y"]}]}' >gather.json
ge-compile gather.json -o gather.bin -t cpu >"$temporary/out" 2>&1 || { cat "$temporary/out"; failed=$((failed + 1)); }
fault 'index out of range' 1 'E0609|pick|7' ge-run gather.bin -i x=1,2,3,4 -i i=1,7
fault 'index in range' 0 '' ge-run gather.bin -i x=1,2,3,4 -i i=1,-4
fault 'no GPU' 3 'E0701' env CUDA_VISIBLE_DEVICES= ge-run mlp.bin --device cuda  # none to be seen, whatever is there
# --- old output is kept whole, permissions are those of any new file, and a signal leaves nothing
ge-run mlp.bin -i x="$mlp/x.npy" -o y=y.npy >"$temporary/out" 2>&1 || { cat "$temporary/out"; failed=$((failed + 1)); }
before=$(sha256sum <y.npy)
fault 'old results stay whole' 1 'E0601' ge-run mlp.bin -i z="$mlp/x.npy" -o y=y.npy
fault 'old results stay whole on a full disk' 3 'E0103' bash -c 'ulimit -f 1; exec ge-run mlp.bin --dim batch=64 -o y=y.npy'
[ "$(sha256sum <y.npy)" = "$before" ] || { echo "FAILED: the old results changed"; failed=$((failed + 1)); }
fault 'a new plan has the permissions of a new file' 0 '640' bash -c "umask 027; ge-compile '$mlp/mlp.json' -o mask.bin -t cpu && stat -c %a mask.bin"
fault 'new results have the permissions of a new file' 0 '640' bash -c 'umask 027; ge-run mlp.bin -o y=mask.npy && stat -c %a mask.npy'
fault 'an old file keeps its permissions' 0 '600' bash -c "chmod 600 mask.bin; ge-compile '$mlp/mlp.json' -o mask.bin -t cpu && stat -c %a mask.bin"
fault 'a plan into a folder where no file can be, for root neither' 3 'E0103|/proc/p.bin' ge-compile "$mlp/mlp.json" -o /proc/p.bin -t cpu
fault 'results into a folder where no file can be' 3 'E0103|/proc/y.npy' ge-run mlp.bin -o /proc/y.npy
mkdir closed && chmod 555 closed
if [ "$(id -u)" -ne 0 ]; then  # nothing is closed to root
  fault 'a plan into a folder that is not writable' 3 "E0103|closed" ge-compile "$mlp/mlp.json" -o closed/p.bin -t cpu
  fault 'results into a folder that is not writable' 3 "E0103|closed" ge-run mlp.bin -o closed/
fi

# interrupted COMMAND...: Ctrl-C as soon as the command has its temporary file. It must end by that signal; one that was done
# before the signal came is tried again.
interrupted() {
  local code=0 attempt pid
  cases=$((cases + 1))
  for attempt in 1 2 3 4 5; do
    env --default-signal=INT "$@" >"$temporary/out" 2>&1 </dev/null &  # a script's background jobs ignore it
    pid=$!
    until compgen -G '.*.tmp' >/dev/null || ! kill -0 "$pid" 2>/dev/null; do sleep 0.005; done
    kill -INT "$pid" 2>/dev/null
    code=0
    wait "$pid" || code=$?
    [ "$code" -ne 130 ] || return 0
  done
  echo "FAILED Ctrl-C of $*: exit code $code, expected 130 ($attempt attempts)"
  failed=$((failed + 1))
}
# Memory that ends anywhere ends as an error of ge's. A sanitizer's build does not start under such limits.
[ -n "$only" ] || ! (ulimit -v 500000 && ge-compile --version >"$temporary/out" 2>&1) || {
  printf '{"format":"ge-graph/1","inputs":[{"name":"v0","dtype":"float32","shape":[64,64]}],"outputs":["v2000"],"nodes":[' >chain.json
  ops=(Relu Neg Softmax Exp)
  for ((i = 0; i < 2000; i++)); do printf '{"op":"%s","inputs":["v%d"],"outputs":["v%d"]},' "${ops[i % 4]}" $i $((i + 1)); done |
    sed 's/,$/]}/' >>chain.json
  ge-compile chain.json -o chain.bin -t cpu 2>"$temporary/out" || { echo 'FAILED: chain.json does not compile'; failed=$((failed + 1)); }
  for command in 'ge-compile chain.json -o chain2.bin -t cpu' 'ge-run chain.bin --threads 2' 'ge-inspect chain.bin --json'; do
    # Up from the least memory that the loader can do with.
    within() { (ulimit -v "$1" && ulimit -c 0 && exec timeout 60 "${@:2}") >"$temporary/out" 2>&1 </dev/null; }
    kib=4000
    # shellcheck disable=SC2086 # a command is its words
    until [ $kib -ge 500000 ] || { within $kib ${command%% *} --version; } 2>/dev/null; do kib=$((kib + 100)); done
    for ((fine = 0; fine < 3 && kib < 500000; kib += 300)); do
      code=0
      within "$kib" $command 2>/dev/null || code=$?
      [ $code -ne 0 ] || fine=$((fine + 1))
      [ $code -eq 0 ] || { [ $code -eq 3 ] && grep -q E0104 "$temporary/out"; } ||
        { echo "FAILED $command in $kib KiB: exit code $code"; head -n 4 "$temporary/out"; failed=$((failed + 1)); }
      [ $code -eq 0 ] || cases=$((cases + 1))
    done
  done
}
[ -n "$only" ] || {
  code=0
  timeout --preserve-status -s INT 1 ge-run mlp.bin --bench --duration 30 >"$temporary/out" 2>&1 </dev/null || code=$?
  cases=$((cases + 1))
  [ "$code" -eq 130 ] || { echo "FAILED Ctrl-C: exit code $code, expected 130"; failed=$((failed + 1)); }
  # 400 MB of weights, which take no room, take a while to be written.
  truncate -s 400000000 zeros.raw
  cp mlp.bin large.bin
  printf '%s' "$(one "$add" '{"name":"w","dtype":"float32","shape":[100000000],"data":{"file":"zeros.raw","offset":0}}' '[100000000]')" >large.json
  interrupted ge-compile large.json -o large.bin -t cpu
  cmp -s mlp.bin large.bin || { echo "FAILED: Ctrl-C changed the old plan"; failed=$((failed + 1)); }
  compiled relus "$(one "$relu" '' '["n"]')"
  interrupted ge-run relus.bin --dim n=50000000 -o y=y.npy
  [ "$(sha256sum <y.npy)" = "$before" ] || { echo "FAILED: Ctrl-C changed the old results"; failed=$((failed + 1)); }
  rm -f zeros.raw large.bin
}
finish
