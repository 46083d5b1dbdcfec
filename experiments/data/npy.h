#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace halfulp {

/// An array of a file: its elements in row-major order, each exact in double. No axes: one number.
struct NumberArray {
  std::vector<std::size_t> shape;
  std::vector<double> values;
};

/// Reads an array of NumPy's own file format.
/// in: versions 1.0, 2.0 and 3.0; little-endian float32 ('<f4') or float64 ('<f8') in C order, any shape
/// errors: Error naming the file, what is wrong and what is allowed: a file that is missing, another type or order,
///         a header with other keys, and data that are shorter or longer than the header says
/// source: NEP 1 and numpy.lib.format: "\x93NUMPY", two version bytes, the header's length (2 bytes little-endian, 4
///         from version 2 on), a Python dictionary literal with 'descr', 'fortran_order' and 'shape', then the data
NumberArray read_npy(const std::string& file);

}  // namespace halfulp
