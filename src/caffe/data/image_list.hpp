#ifndef CAFFE_SRC_DATA_IMAGE_LIST_HPP_
#define CAFFE_SRC_DATA_IMAGE_LIST_HPP_

#include <string>
#include <utility>
#include <vector>

namespace caffe {

// Reads a list of images: in every line the path of a file, which may contain
// spaces, a space and an integer label. Throws Error, with the line's number,
// for any other line but an empty one, and for a list without images.
std::vector<std::pair<std::string, int>> ReadImageList(
    const std::string& filename);

}  // namespace caffe

#endif  // CAFFE_SRC_DATA_IMAGE_LIST_HPP_
