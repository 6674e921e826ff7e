// A driver for byte fuzzers where libFuzzer is not there: replays files, then mutates them for a while.
//
//   NAME_fuzz [--seconds N] [--seed S] [--keep FILE] FILE|FOLDER...
//
// The input that is being tried always stands in FILE (default: NAME_fuzz.input): after a crash, or after an
// input took 20 s, it is the one to give again. Exits with 1 where there is nothing to start from.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "fuzz_target.h"

// What a target may define, as for libFuzzer: changes that keep a format's framing. 0 where it made none.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed)
    __attribute__((weak));

namespace {

using Input = std::vector<uint8_t>;
constexpr size_t kLargest = 1 << 16;  // bytes of an input that mutations start from
constexpr unsigned kSlow = 20;        // seconds

// Where the input under test is kept, in a file: it outlives the process however that ends.
class Kept {
 public:
  explicit Kept(const std::string& path) : path_(path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) std::perror(path.c_str()), std::exit(2);
    descriptor_ = file;
  }
  void set(const Input& input) {
    if (ftruncate(descriptor_, static_cast<off_t>(input.size())) != 0) std::abort();
    if (pwrite(descriptor_, input.data(), input.size(), 0) != static_cast<ssize_t>(input.size()))
      std::abort();
  }
  void remove() { unlink(path_.c_str()); }

 private:
  std::string path_;
  int descriptor_ = -1;
};

class Mutator {
 public:
  Mutator(const std::vector<Input>& seeds, uint64_t seed) : seeds_(seeds), random_(seed) {}

  Input next() {
    Input input = any_seed();
    if (LLVMFuzzerCustomMutator && below(4) != 0) {
      const size_t size = input.size();
      input.resize(2 * kLargest);
      input.resize(
          LLVMFuzzerCustomMutator(input.data(), size, input.size(), static_cast<unsigned>(random_())));
      if (!input.empty()) return input;
      input = any_seed();
    }
    for (size_t n = 1 + below(6); n-- > 0;) change(input);
    return input;
  }

 private:
  size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(random_() % n); }
  const Input& any_seed() { return seeds_[below(seeds_.size())]; }

  void change(Input& in) {
    const size_t at = below(in.size() + 1),
                 length = std::min(in.size() - at, below(1 + (below(4) ? 8 : 200)));
    const auto begin = in.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(8)) {
      case 0:
        if (at < in.size()) in[at] ^= static_cast<uint8_t>(1u << below(8));
        return;
      case 1:
        if (at < in.size()) in[at] = static_cast<uint8_t>(random_());
        return;
      case 2:
        in.erase(begin, begin + static_cast<std::ptrdiff_t>(length));
        return;
      case 3: {  // again
        const Input part(begin, begin + static_cast<std::ptrdiff_t>(length));
        in.insert(begin, part.begin(), part.end());
        return;
      }
      case 4: {  // a piece of another input
        const Input& other = any_seed();
        const size_t from = below(other.size()), n = std::min(other.size() - from, below(64));
        in.insert(begin, other.begin() + static_cast<std::ptrdiff_t>(from),
                  other.begin() + static_cast<std::ptrdiff_t>(from + n));
        return;
      }
      case 5:
        return number(in, at);
      case 6: {  // a number in binary
        static constexpr std::array<uint64_t, 8> kEnds = {
            0, 1, 0x7f, 0xff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, 0xffffffffffffffff};
        const uint64_t v = kEnds[below(kEnds.size())];
        const size_t n = std::min<size_t>(in.size() - at, size_t{1} << below(4));
        if (n > 0) std::memcpy(&in[at], &v, n);
        return;
      }
      default:
        if (below(8) == 0) in.resize(at);
    }
  }

  // The next number in the text becomes another.
  void number(Input& in, size_t at) {
    static const std::array<const char*, 12> kNumbers = {
        "0",     "-1",  "1",   "2", "7", "255", "2147483648", "9223372036854775807", "-9223372036854775808",
        "1e999", "0.5", "null"};
    const auto digit = [](uint8_t c) { return c >= '0' && c <= '9'; };
    const auto from = std::find_if(in.begin() + static_cast<std::ptrdiff_t>(at), in.end(), digit);
    if (from == in.end()) return;
    const auto to = std::find_if_not(from, in.end(), digit);
    const std::string text = kNumbers[below(kNumbers.size())];
    in.insert(in.erase(from, to), text.begin(), text.end());
  }

  const std::vector<Input>& seeds_;
  std::mt19937_64 random_;
};

void try_one(Kept& kept, const Input& input) {
  kept.set(input);
  alarm(kSlow);
  LLVMFuzzerTestOneInput(input.data(), input.size());
  alarm(0);
}

std::vector<Input> read_all(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  std::vector<Input> inputs;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return inputs;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 0;
  uint64_t seed = 1;
  std::string keep = std::filesystem::path(argv[0]).filename().string() + ".input";
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const char* next = i + 1 < argc ? argv[i + 1] : "";
    if (a == "--seconds")
      seconds = std::atof(next), ++i;
    else if (a == "--seed")
      seed = std::strtoull(next, nullptr, 10), ++i;
    else if (a == "--keep")
      keep = next, ++i;
    else
      paths.push_back(a);
  }
  std::vector<Input> seeds = read_all(paths);
  if (seeds.empty()) return std::fprintf(stderr, "no inputs to start from\n"), 1;
  Kept kept(keep);
  for (const Input& input : seeds) try_one(kept, input);
  const size_t replayed = seeds.size();
  std::erase_if(seeds, [](const Input& input) { return input.size() > kLargest; });
  seeds.emplace_back();
  Mutator mutator(seeds, seed);
  size_t tried = 0;
  using Clock = std::chrono::steady_clock;
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (; Clock::now() < end; ++tried) try_one(kept, mutator.next());
  kept.remove();
  std::printf("%zu inputs replayed, %zu made from them with seed %llu: nothing found\n", replayed, tried,
              static_cast<unsigned long long>(seed));
  return 0;
}
