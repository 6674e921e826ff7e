// Graph upkeep: uses, order, clone, compact; and that nothing is quadratic on large graphs.
#include "catch.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/verify.h"
#include "work_time.h"

using namespace ge;
using namespace ge::test;

namespace {
const Type kRow{DType::float32, {Dim::symbol("n"), 4}};

NodeId add_relu(Graph& g, ValueId x) {
  return g.add_node(Op::relu, {x}, {g.type(x)});
}
}  // namespace

TEST_CASE("uses follow operands, outputs and removals") {
  Graph g;
  const ValueId x = g.add_input("x", kRow);
  const NodeId a = add_relu(g, x), b = add_relu(g, x);
  const ValueId va = g.node(a).results[0], vb = g.node(b).results[0];
  const NodeId sum = g.add_node(Op::add, {va, va}, {kRow});
  g.add_output(g.node(sum).results[0], "y");
  CHECK(g.use_count(x) == 2);
  CHECK(g.use_count(va) == 2);
  g.set_operand(sum, 1, vb);
  CHECK(g.use_count(va) == 1);
  CHECK(g.uses(vb)[0] == Graph::Use{sum, 1});
  g.replace_all_uses(vb, va);
  CHECK(g.use_count(vb) == 0);
  CHECK(g.node(sum).operands == std::vector<ValueId>{va, va});
  g.remove_node(b);
  CHECK(g.use_count(x) == 1);
  CHECK_FALSE(g.value(vb).alive);
  CHECK(g.live_nodes() == 2);
  g.set_output(0, va);
  CHECK(g.use_count(g.node(sum).results[0]) == 0);
  g.remove_node(sum);
  REQUIRE_OK(verify(g, true));
}

TEST_CASE("replacing a value moves its name, but never an input's") {
  Graph g;
  const ValueId x = g.add_input("x", kRow);
  const ValueId a = g.node(add_relu(g, x)).results[0], b = g.node(add_relu(g, x)).results[0];
  g.value(a).name = "hidden";
  g.add_output(a, "y");
  g.replace_all_uses(a, b);
  CHECK(g.value(b).name == "hidden");
  CHECK(g.value(a).name.empty());
  g.replace_all_uses(x, b);
  CHECK(g.value(x).name == "x");
}

TEST_CASE("order is topological, stable by id, and total on cycles") {
  Graph g;
  const ValueId x = g.add_input("x", kRow);
  const NodeId late = g.add_node(Op::relu, {kNone}, {kRow});
  const NodeId early = add_relu(g, x);
  const NodeId free = add_relu(g, x);
  g.set_operand(late, 0, g.node(early).results[0]);
  CHECK(g.order() == std::vector<NodeId>{early, late, free});
  g.set_operand(early, 0, g.node(late).results[0]);
  CHECK(g.order() == std::vector<NodeId>{free, late, early});
}

TEST_CASE("clone is deep and compact drops holes") {
  Graph g;
  const ValueId x = g.add_input("x", kRow);
  const NodeId dead = add_relu(g, x);
  const ValueId y = g.node(add_relu(g, x)).results[0];
  g.value(y).name = "y";
  g.add_output(y, "y");
  g.remove_node(dead);
  Graph copy = g.clone();
  copy.compact();
  CHECK(g.node_capacity() == 2);
  CHECK(copy.node_capacity() == 1);
  CHECK(copy.value_capacity() == 2);
  CHECK(copy.value(copy.outputs[0]).name == "y");
  CHECK(copy.use_count(copy.outputs[0]) == 1);
  REQUIRE_OK(verify(copy, true));
  copy.node(0).sources.push_back({"/nodes/0", "", ""});
  CHECK(g.node(1).sources.empty());
}

TEST_CASE("large graphs take linear time") {
  const auto chain = [](int length) {
    Graph g;
    ValueId v = g.add_input("x", kRow);
    Builder b(g, {});
    for (int i = 0; i < length; ++i) v = b.op(Op::relu, {v});
    g.add_output(v, "y");
    return g;
  };
  CHECK(seconds_of([&] {
          Graph g = chain(50000);
          CHECK(g.order().size() == 50000);
          CHECK(verify(g, true).ok());
          Graph copy = g.clone();
          copy.compact();
        }) < 5);
  Graph wide;
  const ValueId x = wide.add_input("x", {DType::float32, {2, 3}});
  CHECK(seconds_of([&] {
          Builder b(wide, {});
          const ValueId y = b.op(Op::concat, std::vector<ValueId>(20000, x), {{"axis", int64_t{0}}});
          REQUIRE(wide.type(y).dims[0].is_value(40000));
          wide.add_output(y, "y");
          const ValueId z = wide.node(wide.add_node(Op::relu, {x}, {wide.type(x)})).results[0];
          const NodeId user = wide.value(y).producer;
          for (uint32_t i = 0; i < 20000; ++i) wide.set_operand(user, i, z);
          wide.replace_all_uses(z, x);
          CHECK(wide.use_count(x) == 20001);
        }) < 5);
}

TEST_CASE("tensor data: splats, files and sizes") {
  const TensorData half = splat(DType::float16, {3, 1000000000}, 0.5);
  CHECK(half.count() == 3000000000);
  CHECK(half.size_bytes() == 6000000000);
  CHECK(half.bytes->size() == 2);
  const auto nibbles = full_bytes(splat(DType::int4, {5}, -3));
  REQUIRE_OK(nibbles);
  CHECK((*nibbles)->size() == 3);
  CHECK((*nibbles)->data()[0] == std::byte{0xdd});
  CHECK((*nibbles)->data()[2] == std::byte{0x0d});
  const auto ints = full_bytes(splat(DType::int32, {7}, 9));
  REQUIRE_OK(ints);
  CHECK(load_as<int32_t>((*ints)->data() + 24) == 9);
  TensorData lazy{
      DType::float32, {2}, nullptr, false, std::make_shared<const std::function<Result<ByteBuffer>()>>([] {
        return Result<ByteBuffer>(ByteBuffer::allocate(4, true));
      })};
  REQUIRE_CODE(full_bytes(lazy), Code::bad_tensor_data);
  CHECK(full_bytes(lazy).error().first().found == "found 4 bytes; shape and dtype need 8");
}

TEST_CASE("tensor data: transposed contents are made when asked for, from storage that is shared") {
  const auto check = [](DType dtype, const std::vector<int64_t>& dims, const std::vector<int64_t>& perm) {
    int64_t count = 1;
    for (const int64_t d : dims) count *= d;
    const auto width = static_cast<size_t>(bits_of(dtype) / 8);
    ByteBuffer bytes = ByteBuffer::allocate(static_cast<size_t>(count) * width);
    for (size_t i = 0; i < bytes.size(); ++i) bytes.data()[i] = static_cast<std::byte>(i * 7 + i / 256);
    const TensorData data{dtype, dims, std::make_shared<const ByteBuffer>(std::move(bytes)), false, nullptr};
    const TensorData turned = transposed(data, perm);
    CHECK(turned.remade);
    CHECK(turned.bytes == nullptr);
    const auto got = full_bytes(turned);
    REQUIRE(got.ok());
    std::vector<std::byte> expected;
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i, from = 0;
      for (size_t a = perm.size(); a-- > 0; rest /= turned.dims[a]) {
        int64_t step = 1;
        for (size_t b = static_cast<size_t>(perm[a]) + 1; b < dims.size(); ++b) step *= dims[b];
        from += rest % turned.dims[a] * step;
      }
      const std::byte* element = data.bytes->data() + static_cast<size_t>(from) * width;
      expected.insert(expected.end(), element, element + width);
    }
    CHECK(std::equal(expected.begin(), expected.end(), (*got)->data(), (*got)->data() + (*got)->size()));
  };
  for (const DType dtype : {DType::float8e4m3fn, DType::bfloat16, DType::float32, DType::float64}) {
    check(dtype, {3, 5, 2, 4}, {0, 2, 3, 1});
    check(dtype, {7}, {0});
    check(dtype, {2, 3, 5}, {2, 1, 0});
    check(dtype, {1, 1, 4}, {2, 0, 1});
    check(dtype, {3, 0, 2}, {2, 0, 1});
  }
  const TensorData many = splat(DType::float32, {2, 3}, 4);
  CHECK(transposed(many, {1, 0}).splat);
  CHECK(transposed(many, {1, 0}).dims == std::vector<int64_t>{3, 2});
  CHECK(reshaped(many, {6}).bytes == many.bytes);
  TensorData broken{DType::float32, {2, 3}, nullptr, false, nullptr};
  broken.load = std::make_shared<const std::function<Result<ByteBuffer>()>>(
      []() -> Result<ByteBuffer> { return fail(Code::file_unreadable); });
  CHECK_FALSE(full_bytes(transposed(broken, {1, 0})).ok());
}
