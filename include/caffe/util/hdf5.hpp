#ifndef CAFFE_UTIL_HDF5_H_
#define CAFFE_UTIL_HDF5_H_

#include <string>

#ifdef USE_HDF5
#include <hdf5.h>
#include <hdf5_hl.h>
#else
#include <cstdint>
using hid_t = std::int64_t;
#endif

#include "caffe/blob.hpp"

// Blobs, numbers and texts in HDF5 files. All functions throw Error, which
// names the file and the data set; in a build without HDF5, always.

namespace caffe {

// Checks that the data set is there and numeric and has min_dim to max_dim axes
// (both included), then shapes the blob like it; without `reshape` the blob
// must have that shape already.
template <typename Dtype>
void hdf5_load_nd_dataset_helper(hid_t file_id, const char* dataset_name_,
                                 int min_dim, int max_dim, Blob<Dtype>* blob,
                                 bool reshape);

// The same, and reads the values.
template <typename Dtype>
void hdf5_load_nd_dataset(hid_t file_id, const char* dataset_name_, int min_dim,
                          int max_dim, Blob<Dtype>* blob, bool reshape = false);

template <typename Dtype>
void hdf5_save_nd_dataset(const hid_t file_id, const string& dataset_name,
                          const Blob<Dtype>& blob, bool write_diff = false);

int hdf5_load_int(hid_t loc_id, const string& dataset_name);
void hdf5_save_int(hid_t loc_id, const string& dataset_name, int i);
string hdf5_load_string(hid_t loc_id, const string& dataset_name);
void hdf5_save_string(hid_t loc_id, const string& dataset_name,
                      const string& s);

// How many groups and data sets there are, and the name of one of them.
int hdf5_get_num_links(hid_t loc_id);
string hdf5_get_name_by_idx(hid_t loc_id, int idx);

}  // namespace caffe

#endif  // CAFFE_UTIL_HDF5_H_
