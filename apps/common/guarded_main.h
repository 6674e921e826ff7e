// The outermost call of a program: what leaves the libraries as an exception ends as an error of ge's, with
// its exit code. Entry: guarded_main.
#pragma once
#include <exception>
#include <new>

namespace ge {

// Each gives the exit code; the first allocates nothing that it needs.
int report_out_of_memory() noexcept;
int report_exception(const char* what) noexcept;  // a bug: the libraries throw nothing but bad_alloc

// The stack grows as it is used, and where memory ends just then nothing can be said: what recursion over a
// model may take (2 MiB, or a quarter of the limit) is this process's at once.
void take_stack() noexcept;

template <class Body>
int guarded_main(Body&& body) {
  take_stack();
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return report_out_of_memory();
  } catch (const std::exception& e) {
    return report_exception(e.what());
  }
}

}  // namespace ge
