#include <algorithm>

#include "caffe/error.hpp"
#include "compress/codecs.hpp"

namespace caffe::codec {

std::span<const Codec* const> Codecs() {
  // A codec's name and number must be new; order is the order of reports.
  static const Codec* const codecs[] = {
      &SzCodecInstance(),       &RawCodecInstance(),  &Fp16CodecInstance(),
      &LosslessCodecInstance(), &ZvcCodecInstance(),  &CsrCodecInstance(),
      &Q8CodecInstance(),       &Q4CodecInstance(),   &Q2CodecInstance(),
      &BitmaskCodecInstance(),  &JpegCodecInstance(), &ShiftedCodecInstance(),
  };
  return codecs;
}

const Codec& FindCodec(std::string_view name) {
  std::string known;
  for (const Codec* const codec : Codecs()) {
    if (codec->name() == name) return *codec;
    known += known.empty() ? "" : ", ";
    known += codec->name();
  }
  Fail("unknown codec '", name, "' (known codecs: ", known, ")");
}

const Codec& FindCodec(const FrameInfo& info) {
  for (const Codec* const codec : Codecs()) {
    if (codec->id() == info.codec) return *codec;
  }
  Fail("the compressed tensor was written by codec number ", int{info.codec},
       ", which this program does not know");
}

}  // namespace caffe::codec
