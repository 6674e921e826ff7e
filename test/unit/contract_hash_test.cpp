// XXH3: values of the xxHash library (0.8.1), and both of ours agree on every size.
#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "catch.h"
#include "contract/hash.h"
#include "contract/xxh3.h"

using namespace ge;

namespace {

std::vector<std::byte> pattern(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * i * 7 + i * 3 + 1);
  return bytes;
}

struct Known {
  size_t size;
  uint64_t hash64;
  std::string_view hash128;
};
constexpr Known kKnown[] = {
    {0, 0x2d06800538d394c2u, "99aa06d3014798d86001c324468d497f"},
    {1, 0xe12ef9d2eb86ceebu, "51025a4491835505e12ef9d2eb86ceeb"},
    {3, 0x35488fe719dc1021u, "87d2bbbc29c0395735488fe719dc1021"},
    {4, 0x26203d6789a9cf24u, "d0cbdb0436e2d6aef578cd7cb8054d5a"},
    {8, 0x83ed104630ad987du, "57ae7e23b77e1f88c5916640871623f0"},
    {9, 0xf65936fd5fbbb6bau, "96ae3a94fbff878a5d55abf1cf1d9ad8"},
    {16, 0xaf8cc67768149561u, "c7aa722ba7b098103deb79ab3147faef"},
    {17, 0xc3d904afc08445b8u, "ecf649be8ff2e9c6c6326e7c90ad7b48"},
    {32, 0xd2f4be29d966bb52u, "c40d96b4f2cac807e160021641308768"},
    {33, 0x0299b5dd21d160a6u, "1b136d8aded933597d6569df9d855005"},
    {128, 0x0ba2552c334a2c90u, "79ee4e1aa03a7f76ed6eb380f2595e7c"},
    {129, 0xcb8dcdd37cea0bd5u, "c048d4a8ed25ae71b2b92ee27f0e00df"},
    {240, 0x4fe0949fa7ed254cu, "c8a4af511d4adbe9ade95e28a27392d9"},
    {241, 0x7a44fe8d013626bfu, "51a618a0bec2a7237a44fe8d013626bf"},
    {1024, 0x5365687a61dc04afu, "02770908d51708fa5365687a61dc04af"},
    {1025, 0x0ede97ab153d6aa2u, "96f95be751b92d7b0ede97ab153d6aa2"},
    {5000, 0x29926ffea3a4e591u, "f10e2b6a6760e6d029926ffea3a4e591"},
};

}  // namespace

TEST_CASE("hashes are those of the xxHash library") {
  for (const Known& known : kKnown) {
    const std::vector<std::byte> bytes = pattern(known.size);
    CAPTURE(known.size);
    CHECK(hash64(bytes) == known.hash64);
    CHECK(hash128_hex(bytes) == known.hash128);
    CHECK(xxh3_64(bytes) == known.hash64);
  }
}

TEST_CASE("xxh3 without the library's header gives the same at every size") {
  const std::vector<std::byte> bytes = pattern(2500);
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const ByteSpan part = ByteSpan(bytes).last(size);  // unaligned starts too
    const Hash128 hash = xxh3_128(part);
    CAPTURE(size);
    REQUIRE(xxh3_64(part) == hash64(part));
    REQUIRE(fmt::format("{:016x}{:016x}", hash.high, hash.low) == hash128_hex(part));
  }
}
