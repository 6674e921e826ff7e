#!/usr/bin/env bash
# dims.sh BIN_FOLDER [WORD]: what the programs say of sizes: dims that can never be, that are not for this value, that cannot be
# worked out; numbers in graph.json; indices known when compiling. Cases as in faults.sh.
set -uo pipefail
# shellcheck source=test/cli/cases.sh
. "$(dirname "$0")/cases.sh"

# model DIMS INPUTS NODES OUTPUTS [INITIALIZERS]
model() {
  printf '{"format":"ge-graph/1","opset":21,"dims":{%s},"inputs":[%s],"nodes":[%s],"outputs":[%s],"initializers":[%s]}' "$1" "$2" "$3" "$4" "${5:-}"
}
x() { printf '{"name":"%s","dtype":"float32","shape":%s}' "${2:-x}" "$1"; }
relu='{"op":"Relu","inputs":["x"],"outputs":["y"]}'
relus=$relu',{"op":"Relu","inputs":["z"],"outputs":["w"]}'

# --- sizes that can never be
graph 'negative for every value' 'E0209|g.json:1:|/inputs/0/shape/0|"batch - 100", which is -99 .. -92 with batch 1 .. 8' \
  "$(model '"batch":{"min":1,"max":8}' "$(x '["batch - 100",4]')" "$relu" '"y"')"
graph 'negative for every value of two dims' 'E0209|/inputs/0/shape/1|-7 .. -1 with a 1 .. 3, b 4 .. 8' \
  "$(model '"a":{"min":1,"max":3},"b":{"min":4,"max":8}' "$(x '[2,"a - b"]')" "$relu" '"y"')"
graph 'too large for every value' 'E0315|/inputs/0/shape|for every value' "$(model '"n":{"min":1099511627776}' "$(x '["n","n"]')" "$relu" '"y"')"
printf '%s' "$(model '' "$(x '["n - 100"]')" "$relu" '"y"')" >g.json
fault 'negative for every value of --dim' 1 'E0209|--dim n=1:8|n - 100 is -99 .. -92 with n 1 .. 8' ge-compile g.json -o g.bin -t cpu --dim n=1:8
fault 'negative for the value of --dim' 1 'E0209|--dim n=3|[-97]' ge-compile g.json -o g.bin -t cpu --dim n=3
conv='{"op":"Conv","inputs":["x","k"],"outputs":["y"]}'
kernel=$(x '[1,1,3,3]' k)
graph 'a result negative for every value' 'E0209|/nodes/0|axis 2 of float32[1, 1, h - 2, 3] is -2 .. -1 with h 0 .. 1' \
  "$(model '"h":{"max":1}' "$(x '[1,1,"h",5]'),$kernel" "$conv" '"y"')"
graph 'sizes that are never equal' 'E0310|/nodes/0|found 7 and n, which is 1 .. 5 with n 1 .. 5' \
  "$(model '"n":{"min":1,"max":5}' "$(x '["n"]')" '{"op":"Split","inputs":["x","s"],"outputs":["y","z"]}' '"y","z"' '{"name":"s","dtype":"int64","shape":[2],"data":[3,4]}')"

# --- sizes that are not for this value: the tensor, its axis, expression, value, dims and their ranges
compiled sub "$(model '"n":{"max":9}' "$(x '["n - 2",4]')" "$relu" '"y"')"
fault 'an input too small' 1 'E0605|input "x" has no valid size|axis 0: n-2 is -1 with n = 1 (allowed 0 .. 9)' ge-run sub.bin --dim n=1
fault 'an input that fits' 0 '[0, 4]' ge-run sub.bin --dim n=2
fault 'a default that fits' 0 'y' ge-run sub.bin
compiled conv "$(model '"h":{"min":1,"max":9}' "$(x '[1,1,"h",5]'),$kernel" "$conv" '"y"')"
fault 'an output too small' 1 'E0605|/nodes/0|output "y" has no valid size|axis 2: h-2 is -1 with h = 1 (allowed 1 .. 9)' ge-run conv.bin --dim h=1
compiled inner "$(model '"h":{"min":1,"max":9}' "$(x '[1,1,"h",5]'),$kernel" \
  "${conv/\"y\"/\"c\"},"'{"op":"ReduceSum","inputs":["c"],"outputs":["y"],"attributes":{"keepdims":0}}' '"y"')"
fault 'an inner tensor too small' 1 'E0605|tensor "c" has no valid size|/nodes/0|h-2 is -1 with h = 1 (allowed 1 .. 9)' ge-run inner.bin --dim h=1
fault 'a dim out of range, and where it stands' 1 'E0605|dim "h" is outside its range|11 by the value given (axis 2 of input "x"), allowed 1 .. 9' ge-run conv.bin --dim h=11
compiled sum "$(model '' "$(x '["a + b"]'),$(x '["n // 2"]' z)" "$relus" '"y","w"')"
fault 'a size that overflows' 1 'E0315|input "x"|axis 0: a+b: it overflows 64 bits with a = 9223372036854775807 (allowed 0 and up), b = 1' ge-run sum.bin --dim a=9223372036854775807
fault 'bytes that overflow' 1 'E0315|input "x" is too large|float32[a+b = 9223372036854775806]' ge-run sum.bin --dim a=9223372036854775805
compiled ratio "$(model '' "$(x '["n // m"]')" "$relu" '"y"')"
fault 'a size that divides by zero' 1 'input "x"|axis 0: n//m: it divides by zero with m = 0 (allowed 0 and up), n = 1' ge-run ratio.bin --dim m=0

# --- dims that cannot be worked out
fault 'the sum of two dims' 1 'E0614|dims "a", "b" cannot be worked out|input "x" is [3]|[a+b]|--dim a=N' ge-run sum.bin -i x=1,2,3
fault 'the half of a dim' 1 'E0614|dim "n" cannot be worked out|input "z" is [3]|[n//2]|--dim n=N' ge-run sum.bin -i z=1,2,3
fault 'the sum, with one of the two' 0 '[3]' ge-run sum.bin -i x=1,2,3 --dim a=1
fault 'the half, with the dim' 0 '[3]' ge-run sum.bin -i z=1,2,3 --dim n=7
fault 'the half of another' 1 'E0604|input "z"|axis 0 is 3; n//2 is 4 with n = 9 (by the value given)' ge-run sum.bin -i z=1,2,3 --dim n=9
fault 'a sum less than its part' 1 'E0603|input "x"|no b from 0 up makes a+b with a = 4 (by the value given) that' ge-run sum.bin -i x=1,2,3 --dim a=4
compiled double "$(model '' "$(x '["2 * n"]')" "$relu" '"y"')"
fault 'an odd size of pairs' 1 'E0603|input "x"|axis 0 is 3, and no n from 0 up makes 2*n that' ge-run double.bin -i x=1,2,3
fault 'a part that is known' 0 '[4]' ge-run double.bin -i x=1,2,3,4
compiled pinned "$(model '"a":{"min":2,"max":2}' "$(x '["a + b"]')" "$relu" '"y"')"
fault 'a dim of one value' 0 '[3]' ge-run pinned.bin -i x=1,2,3

# --- said twice
fault 'a dim twice' 2 'E0110|--dim n= stands twice' ge-run sum.bin --dim n=4 --dim n=8
fault 'an input twice' 2 'E0110|-i x= stands twice' ge-run sum.bin -i x=1,2 -i x=3,4
fault 'an output twice' 2 'E0110|-o y= stands twice' ge-run sum.bin -o y=a.npy -o y=b.npy
fault 'an expectation twice' 2 'E0110|--expect y= stands twice' ge-run sum.bin --expect y=a.npy --expect y=b.npy
fault 'a dim pinned twice' 2 'E0110|--dim n= stands twice' ge-compile sum.json -o g.bin -t cpu --dim n=4 --dim n=1:8
fault 'an input frozen twice' 2 'E0110|--freeze x= stands twice' ge-compile sum.json -o g.bin -t cpu --freeze x=a.npy --freeze x=b.npy

# --- numbers at the ends of 64 bits
far() { printf '{"name":"%s","dtype":"int64","shape":[1],"data":[%s]}' "$1" "$2"; }
for step in -9223372036854775808 9223372036854775807; do
  start=0 end=9223372036854775807
  [ $step -gt 0 ] || { start=9223372036854775807 end=-9223372036854775808; }
  for shape in '[2,3]' '["n",3]'; do
    compiled steps "$(model '"n":{"opt":2}' "$(x "$shape")" '{"op":"Slice","inputs":["x","a","b","c","d"],"outputs":["y"]}' '"y"' "$(far a $start),$(far b $end),$(far c 0),$(far d $step)")"
    fault "a step of $step of $shape" 0 '[1, 3]' ge-run steps.bin -i x=1,2,3,4,5,6
  done
done
compiled blocks "$(model '' "$(x '[2,3]')" '{"op":"QuantizeLinear","inputs":["x","s"],"outputs":["y"],"attributes":{"axis":1,"block_size":9223372036854775807}}' '"y"' '{"name":"s","dtype":"float32","shape":[2,1],"data":[1,2]}')"
fault 'a block longer than its axis' 0 '[2, 3]' ge-run blocks.bin

# --- operators whose sizes must fit
k='{"name":"k","dtype":"int64","shape":[1],"data":[5]}'
topk='{"op":"TopK","inputs":["x","k"],"outputs":["y","i"]}'
compiled topk "$(model '"n":{"min":1,"max":50,"opt":2}' "$(x '["n"]')" "$topk" '"y","i"' "$k")"
fault 'the first 5 of 3' 1 "E0606|/nodes/0|TopK: 'K' is greater than the axis is long: n is 3, needed 5 and up" ge-run topk.bin -i x=1,2,3
fault 'the first 5 of 5' 0 '[5]' ge-run topk.bin -i x=1,2,3,4,5
for target in cpu sm_80; do
  for level in 0 1 2 3; do
    fault "the first 5 of an opt of 2, -O$level for $target" 0 "dim 'n': no shape is possible at 2, 5 is taken" ge-compile topk.json -o topk2.bin -t $target -O$level
  done
done
graph 'the first 5 of at most 4' "E0305|/nodes/0/inputs/1|K is 5" "$(model '"n":{"max":4}' "$(x '["n"]')" "$topk" '"y","i"' "$k")"
split='{"op":"Split","inputs":["x"],"outputs":["a","b","c"],"attributes":{"num_outputs":3}}'
graph 'three parts of one' 'E0310|/nodes/0/attributes/num_outputs|1 is too small for 3 parts|float32[1]|the first 2 parts of 1' "$(model '' "$(x '[1]')" "$split" '"a","b","c"')"
compiled split "$(model '' "$(x '["n"]')" "$split" '"a","b","c"')"
fault 'three parts of one, at bind' 1 'E0606|/nodes/0|n is too small for 3 parts|is -1, needed 0 and up with n = 1' ge-run split.bin -i x=1
fault 'three parts of four' 0 '[0]' ge-run split.bin -i x=1,2,3,4

# --- indices that are known
i64() { printf '{"name":"%s","dtype":"int64","shape":%s,"data":%s}' "$1" "$2" "$3"; }
graph 'an index out of range' "E0609|/nodes/0/inputs/1|Gather 'pick'|found 7 at [1] of 'i' int64[2]; axis 0 of 'x' float32[4]: allowed -4 .. 3" \
  "$(model '' "$(x '[4]')" '{"name":"pick","op":"Gather","inputs":["x","i"],"outputs":["y"]}' '"y"' "$(i64 i '[2]' '[1,7]')")"
graph 'a negative index out of range' 'E0609|found -4 at [0, 1]|axis 1 of|allowed -3 .. 2' \
  "$(model '' "$(x '[4,3]')" '{"op":"Gather","inputs":["x","i"],"outputs":["y"],"attributes":{"axis":1}}' '"y"' "$(i64 i '[1,2]' '[[-3,-4]]')")"
graph 'an index past every value of a dim' 'E0609|allowed -n .. n - 1 (1 .. 8 with n 1 .. 8)' \
  "$(model '"n":{"min":1,"max":8}' "$(x '["n"]')" '{"op":"Gather","inputs":["x","i"],"outputs":["y"]}' '"y"' "$(i64 i '[]' '[8]')")"
graph 'an index past every value of a sum' 'E0609|allowed -n + 1 .. n - 2 (1 .. 7 with n 2 .. 8)' \
  "$(model '"n":{"min":2,"max":8}' "$(x '["n - 1"]')" '{"op":"Gather","inputs":["x","i"],"outputs":["y"]}' '"y"' "$(i64 i '[]' '[8]')")"
compiled index "$(model '"n":{"min":1,"max":8}' "$(x '["n"]')" '{"op":"Gather","inputs":["x","i"],"outputs":["y"]}' '"y"' "$(i64 i '[]' '[7]')")"
fault 'an index past this value of a dim' 1 'E0609|/nodes/0|index 7' ge-run index.bin --dim n=7
fault 'an index that is just in range' 0 'y' ge-run index.bin --dim n=8
graph 'GatherElements' 'E0609|/nodes/0/inputs/1|found 3 at [1, 0]|axis 1' \
  "$(model '' "$(x '[2,3]')" '{"op":"GatherElements","inputs":["x","i"],"outputs":["y"],"attributes":{"axis":1}}' '"y"' "$(i64 i '[2,1]' '[0,3]')")"
graph 'GatherND' 'E0609|/nodes/0/inputs/1|found 3 at [0, 1]|axis 1 of|allowed -3 .. 2' \
  "$(model '' "$(x '[2,3]')" '{"op":"GatherND","inputs":["x","i"],"outputs":["y"]}' '"y"' "$(i64 i '[1,2]' '[1,3]')")"
graph 'ScatterElements' 'E0609|/nodes/0/inputs/1|found -3 at [0, 0]|axis 0' \
  "$(model '' "$(x '[2,3]'),$(x '[1,3]' u)" '{"op":"ScatterElements","inputs":["x","i","u"],"outputs":["y"]}' '"y"' "$(i64 i '[1,3]' '[-3,0,0]')")"
graph 'ScatterND' 'E0609|/nodes/0/inputs/1|found 2 at [0, 0]|axis 0' \
  "$(model '' "$(x '[2,3]'),$(x '[1,3]' u)" '{"op":"ScatterND","inputs":["x","i","u"],"outputs":["y"]}' '"y"' "$(i64 i '[1,1]' '[2]')")"
graph 'an index that is computed' 'E0609|/nodes/1|found 9 at [0]' \
  "$(model '' "$(x '[4]')" '{"op":"Mul","inputs":["i","i"],"outputs":["j"]},{"op":"Gather","inputs":["x","j"],"outputs":["y"]}' '"y"' "$(i64 i '[1]' '[3]')")"
graph 'an index that is folded' 'E0609|/nodes/1|found 5 at [1]' \
  "$(model '' "$(x '[4]')" '{"op":"Cast","inputs":["f"],"outputs":["j"],"attributes":{"to":"int64"}},{"op":"Gather","inputs":["x","j"],"outputs":["y"]}' '"y"' '{"name":"f","dtype":"float32","shape":[2],"data":[3,5.5]}')"
graph 'an index into a constant' 'E0609|/nodes/0' \
  "$(model '' "$(x '[4]')" '{"op":"Gather","inputs":["d","i"],"outputs":["z"]},{"op":"Add","inputs":["x","z"],"outputs":["y"]}' '"y"' "$(i64 i '[1]' '[3]'),$(i64 d '[2]' '[1,2]' | sed 's/int64/float32/')")"

# --- numbers in graph.json: the place is that of the number
numbers() { printf '{"format":"ge-graph/1","inputs":[{"name":"x","dtype":"float32","shape":[2]}],"outputs":["y"],\n"initializers":[{"name":"w","dtype":"float32",%s}],"nodes":[{"op":"Add","inputs":["x","w"],"outputs":["y"]}]}' "$1"; }
head -c 64 /dev/zero >raw.bin
raw() { numbers $'"shape":[2],"data":{"file":"raw.bin",\n "offset":'"$1}"; }
graph 'a negative offset' 'E0213|g.json:3:11  /initializers/0/data/offset|found -1, allowed 0 and up' "$(raw -1)"
graph 'an offset past the end' 'E0213|g.json:3:11  /initializers/0/data/offset|raw.bin has 64 bytes' "$(raw 57)"
graph 'the largest offset' 'E0213|g.json:3:11  /initializers/0/data/offset|offset 9223372036854775807' "$(raw 9223372036854775807)"
for number in 1e30 9223372036854775808 1.5 2.0; do
  graph "an offset of $number" 'E0206|g.json:3:11  /initializers/0/data/offset|64 bits' "$(raw $number)"
  graph "a dim of $number" 'E0209|g.json:3:2  /initializers/0/shape/1|64 bits' "$(numbers $'"shape":[2,\n '"$number"'],"data":{"fill":1}')"
  printf '{"format":"ge-graph/1","dims":{"n":{"max":\n  %s}},"inputs":[{"name":"x","dtype":"float32","shape":["n",\n %s]}],"outputs":["y"],"nodes":[{"op":"Softmax","inputs":["x"],"outputs":["y"],"attributes":{"axis":\n%s}}]}' $number $number $number >g.json
  fault "an input's dim, a dim's range of $number" 1 'E0206|g.json:2:3  /dims/n/max|E0209|g.json:3:2  /inputs/0/shape/1' ge-compile g.json -o g.bin -t cpu
done
graph 'an offset beyond 64 bits' 'E0201|g.json:3:11|18446744073709551616' "$(raw 18446744073709551616)"
graph 'an offset beyond all numbers' 'E0201|g.json:3:11' "$(raw 1e400)"
graph 'a dim that is written as 2.0' 'found 2.0' "$(numbers '"shape":[2.0],"data":{"fill":1}')"
axis() { printf '{"format":"ge-graph/1","inputs":[{"name":"x","dtype":"float32","shape":[2]}],"outputs":["y"],"nodes":[{"op":"%s","inputs":["x"],"outputs":["y"],"attributes":{"%s":\n%s}}]}' "$2" "$3" "$1"; }
graph 'an axis of 1e30' 'E0303|g.json:2:1  /nodes/0/attributes/axis|the floating-point number 1e+30' "$(axis 1e30 Softmax axis)"
graph 'an axis of 2.0' 'E0303|g.json:2:1  /nodes/0/attributes/axis|the floating-point number 2.0' "$(axis 2.0 Softmax axis)"
graph 'an axis of 2^63' 'E0206|g.json:2:1  /nodes/0/attributes/axis|9223372036854775807' "$(axis 9223372036854775808 Softmax axis)"
graph 'the largest axis' 'E0312|g.json:2:1  /nodes/0/attributes/axis|found 9223372036854775807' "$(axis 9223372036854775807 Softmax axis)"
graph 'the smallest axis' 'E0312|g.json:2:1  /nodes/0/attributes/axis|found -9223372036854775808' "$(axis -9223372036854775808 Softmax axis)"
graph 'a list with a fraction' 'E0303|g.json:2:4  /nodes/0/attributes/perm/1' "$(axis '[0,1.5]' Transpose perm)"
graph 'a list with a huge number' 'E0303|g.json:2:4  /nodes/0/attributes/perm/1' "$(axis '[0,1e30]' Transpose perm)"

# --- nearest names, short ones too
near() { model '' "$(x '[2]' "$2")" '{"op":"Relu","inputs":["'"$1"'"],"outputs":["y"]}' '"y"'; }
graph 'one letter and a number' "E0211|did you mean 'h1'?" "$(near h h1)"
graph 'one letter in capitals' "E0211|did you mean 'x'?" "$(near X x)"
graph 'two letters swapped' "E0211|did you mean 'qk'?" "$(near kq qk)"
graph 'one of three letters' "E0211|did you mean 'fc2'?" "$(near fc1 fc2)"
printf '%s' "$(near p q)" >g.json
fault 'one letter for another is no hint' 1 'E0211' bash -c "ge-compile g.json -o g.bin -t cpu 2>&1 | tee /dev/stderr | grep -q 'did you mean' && exit 99; exit 1"
finish
