#include <vector>

#include "caffe/net.hpp"
#include "caffe/util/comma_list.hpp"
#include "caffe_commands.hpp"

namespace caffe {

namespace {

// What one value of an output added up to over the batches.
struct Score {
  int blob_id;
  float sum;
};

void AddScores(int batch, const Net<float>& net,
               const vector<Blob<float>*>& outputs, vector<Score>* scores) {
  size_t number = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int blob_id = net.output_blob_indices()[i];
    const float* const values = outputs[i]->cpu_data();
    for (int k = 0; k < outputs[i]->count(); ++k, ++number) {
      // A later batch may have more values than the first.
      if (number == scores->size()) scores->push_back({blob_id, 0});
      (*scores)[number].sum += values[k];
      LOG(INFO) << "Batch " << batch << ", " << net.blob_names()[blob_id]
                << " = " << values[k];
    }
  }
}

}  // namespace

int Test() {
  Require(!FLAGS_model.empty(),
          "test needs a net: --model=FILE (caffe test --help tells more)");
  Require(!FLAGS_weights.empty(),
          "test needs trained weights: --weights=FILE (caffe test --help tells "
          "more)");
  CheckIterations();
  ChooseDevice(/*wants_gpu=*/false);
  const vector<string> stages = SplitAtCommas(FLAGS_stage);
  Net<float> net(FLAGS_model, TEST, FLAGS_level, &stages);
  for (const string& file : SplitAtCommas(FLAGS_weights)) {
    net.CopyTrainedLayersFrom(file);
  }
  LOG(INFO) << "Running for " << FLAGS_iterations << " iterations.";

  vector<Score> scores;
  float loss = 0;
  for (int i = 0; i < FLAGS_iterations; ++i) {
    float batch_loss;
    const vector<Blob<float>*>& outputs = net.Forward(&batch_loss);
    loss += batch_loss;
    AddScores(i, net, outputs, &scores);
  }
  LOG(INFO) << "Loss: " << loss / FLAGS_iterations;
  for (const Score& score : scores) {
    const float mean = score.sum / FLAGS_iterations;
    const float weight = net.blob_loss_weights()[score.blob_id];
    LOG(INFO) << net.blob_names()[score.blob_id] << " = " << mean
              << (weight == 0
                      ? string()
                      : Concat(" (* ", weight, " = ", weight * mean, " loss)"));
  }
  return 0;
}

}  // namespace caffe
