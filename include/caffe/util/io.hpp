#ifndef CAFFE_UTIL_IO_H_
#define CAFFE_UTIL_IO_H_

#include <google/protobuf/message.h>

#include <string>

#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"

// Files: protos as text and binary, images, and temporary names.
//
// Functions that return bool return false when the file cannot be used and log
// why. Those named OrDie, as Caffe calls them, throw Error with one sentence
// that names the file.

#define CAFFE_TMP_DIR_RETRIES 100

namespace caffe {

using ::google::protobuf::Message;

// A new directory, or a name for a new file, below the system's temporary
// directory.
void MakeTempDir(string* temp_dirname);
void MakeTempFilename(string* temp_filename);

bool ReadProtoFromTextFile(const char* filename, Message* proto);
inline bool ReadProtoFromTextFile(const string& filename, Message* proto) {
  return ReadProtoFromTextFile(filename.c_str(), proto);
}
void ReadProtoFromTextFileOrDie(const char* filename, Message* proto);
inline void ReadProtoFromTextFileOrDie(const string& filename, Message* proto) {
  ReadProtoFromTextFileOrDie(filename.c_str(), proto);
}

// Both writers replace the file as a whole or leave it as it was, and throw
// Error when they cannot.
void WriteProtoToTextFile(const Message& proto, const char* filename);
inline void WriteProtoToTextFile(const Message& proto, const string& filename) {
  WriteProtoToTextFile(proto, filename.c_str());
}
void WriteProtoToBinaryFile(const Message& proto, const char* filename);
inline void WriteProtoToBinaryFile(const Message& proto,
                                   const string& filename) {
  WriteProtoToBinaryFile(proto, filename.c_str());
}

bool ReadProtoFromBinaryFile(const char* filename, Message* proto);
inline bool ReadProtoFromBinaryFile(const string& filename, Message* proto) {
  return ReadProtoFromBinaryFile(filename.c_str(), proto);
}
void ReadProtoFromBinaryFileOrDie(const char* filename, Message* proto);
inline void ReadProtoFromBinaryFileOrDie(const string& filename,
                                         Message* proto) {
  ReadProtoFromBinaryFileOrDie(filename.c_str(), proto);
}

// The file's bytes as they are, as an encoded datum.
bool ReadFileToDatum(const string& filename, const int label, Datum* datum);
inline bool ReadFileToDatum(const string& filename, Datum* datum) {
  return ReadFileToDatum(filename, -1, datum);
}

// Reads an image, resized when both extents are positive, as raw pixels or
// (with an encoding such as "jpg") encoded.
bool ReadImageToDatum(const string& filename, const int label, const int height,
                      const int width, const bool is_color,
                      const std::string& encoding, Datum* datum);
inline bool ReadImageToDatum(const string& filename, const int label,
                             const int height, const int width,
                             const bool is_color, Datum* datum) {
  return ReadImageToDatum(filename, label, height, width, is_color, "", datum);
}
inline bool ReadImageToDatum(const string& filename, const int label,
                             const int height, const int width, Datum* datum) {
  return ReadImageToDatum(filename, label, height, width, true, datum);
}
inline bool ReadImageToDatum(const string& filename, const int label,
                             const bool is_color, Datum* datum) {
  return ReadImageToDatum(filename, label, 0, 0, is_color, datum);
}
inline bool ReadImageToDatum(const string& filename, const int label,
                             Datum* datum) {
  return ReadImageToDatum(filename, label, 0, 0, true, datum);
}
inline bool ReadImageToDatum(const string& filename, const int label,
                             const std::string& encoding, Datum* datum) {
  return ReadImageToDatum(filename, label, 0, 0, true, encoding, datum);
}
// Without this one a literal would become is_color.
inline bool ReadImageToDatum(const string& filename, const int label,
                             const char* encoding, Datum* datum) {
  return ReadImageToDatum(filename, label, std::string(encoding), datum);
}

// Turn an encoded datum into a raw one; false when it was not encoded. Throw
// Error when the image is damaged. The first keeps the image's own colours.
bool DecodeDatumNative(Datum* datum);
bool DecodeDatum(Datum* datum, bool is_color);

// Empty when the file is not an image.
cv::Mat ReadImageToCVMat(const string& filename, const int height,
                         const int width, const bool is_color);
cv::Mat ReadImageToCVMat(const string& filename, const int height,
                         const int width);
cv::Mat ReadImageToCVMat(const string& filename, const bool is_color);
cv::Mat ReadImageToCVMat(const string& filename);
// With the extents of the image before resizing, which may be null.
cv::Mat ReadImageToCVMat(const string& filename, const int height,
                         const int width, const bool is_color, int* img_height,
                         int* img_width);

// Throw Error when the image is damaged.
cv::Mat DecodeDatumToCVMatNative(const Datum& datum);
cv::Mat DecodeDatumToCVMat(const Datum& datum, bool is_color);

void CVMatToDatum(const cv::Mat& cv_img, Datum* datum);

}  // namespace caffe

#endif  // CAFFE_UTIL_IO_H_
