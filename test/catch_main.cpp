// Catch2 2.13's main, compiled once. Version 3 brings its own.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
