#include "caffe/compress/blob_uses.hpp"

namespace caffe {

namespace {

void AddUse(int layer, bool is_declared, BackwardRead read, BlobUse* use) {
  if (use->first_forward < 0) use->first_forward = layer;
  use->last_forward = layer;
  if (!is_declared) use->is_managed = false;
  if (read != BackwardRead::kNothing) use->readers.push_back({layer, read});
}

}  // namespace

template <typename Dtype>
std::vector<BlobUse> FindBlobUses(const Net<Dtype>& net, Passes passes) {
  std::vector<BlobUse> uses(net.blobs().size());
  for (int i = 0; i < static_cast<int>(net.layers().size()); ++i) {
    const BackwardReads reads = net.layers()[i]->backward_reads();
    const bool is_read =
        passes == Passes::kForwardAndBackward && net.layer_need_backward()[i];
    const auto add = [&](int blob, BackwardRead read) {
      AddUse(i, reads.is_declared, is_read ? read : BackwardRead::kNothing,
             &uses[blob]);
    };
    const vector<int>& bottoms = net.bottom_ids(i);
    const vector<int>& tops = net.top_ids(i);
    for (size_t k = 0; k < bottoms.size(); ++k) {
      add(bottoms[k], reads.OfBottom(k));
    }
    for (size_t k = 0; k < tops.size(); ++k) {
      add(tops[k], reads.OfTop(k));
    }
  }
  for (const int blob : net.output_blob_indices()) {
    uses[blob].is_managed = false;
  }
  for (size_t blob = 0; blob < uses.size(); ++blob) {
    if (net.blob_loss_weights()[blob] != 0) uses[blob].is_managed = false;
  }
  return uses;
}

template std::vector<BlobUse> FindBlobUses(const Net<float>& net,
                                           Passes passes);
template std::vector<BlobUse> FindBlobUses(const Net<double>& net,
                                           Passes passes);

}  // namespace caffe
