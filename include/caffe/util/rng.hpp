#ifndef CAFFE_RNG_CPP_HPP_
#define CAFFE_RNG_CPP_HPP_

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int.hpp>
#include <iterator>

#include "caffe/common.hpp"

namespace caffe {

// Boost's generator and distributions give the same numbers with every
// standard library, so a seed means the same run everywhere.
typedef boost::mt19937 rng_t;

// The calling thread's generator.
inline rng_t* caffe_rng() {
  return static_cast<rng_t*>(Caffe::rng_stream().generator());
}

// Puts [begin, end) into random order.
template <class RandomAccessIterator, class RandomGenerator>
inline void shuffle(RandomAccessIterator begin, RandomAccessIterator end,
                    RandomGenerator* gen) {
  using Distance =
      typename std::iterator_traits<RandomAccessIterator>::difference_type;
  for (Distance last = std::distance(begin, end) - 1; last > 0; --last) {
    boost::uniform_int<Distance> pick(0, last);
    std::iter_swap(begin + last, begin + pick(*gen));
  }
}

template <class RandomAccessIterator>
inline void shuffle(RandomAccessIterator begin, RandomAccessIterator end) {
  shuffle(begin, end, caffe_rng());
}

// The whole state of a generator as text, and back; for exact resumes.
std::string SaveRng(const rng_t& rng);
// Throws Error when the text is not such a state.
void RestoreRng(const std::string& state, rng_t* rng);

}  // namespace caffe

#endif  // CAFFE_RNG_CPP_HPP_
