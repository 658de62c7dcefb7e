#include "caffe/util/upgrade_proto.hpp"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>

#include <filesystem>

#include "caffe/test/test_caffe_main.hpp"
#include "caffe/test/test_error_util.hpp"
#include "caffe/util/io.hpp"
#include "temporary_folder.hpp"

namespace caffe {

using google::protobuf::TextFormat;
using testing::HasSubstr;

template <typename Proto>
Proto FromText(const string& text) {
  Proto proto;
  EXPECT_TRUE(TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}

NetParameter Net(const string& text) { return FromText<NetParameter>(text); }

// Upgrades all the way; the result must need nothing more.
NetParameter Upgraded(const string& text, bool is_complete = true) {
  NetParameter net = Net(text);
  EXPECT_TRUE(NetNeedsUpgrade(net));
  EXPECT_EQ(is_complete, UpgradeNetAsNeeded("old.prototxt", &net));
  EXPECT_FALSE(NetNeedsUpgrade(net));
  return net;
}

void ExpectNet(const string& expected, const NetParameter& net) {
  EXPECT_EQ(Net(expected).DebugString(), net.DebugString());
}

constexpr char kV0Net[] = R"(
  name: "old_net"
  layers {
    layer {
      name: "data" type: "data" source: "train_db" meanfile: "mean.binaryproto"
      batchsize: 256 cropsize: 227 mirror: true scale: 0.5 rand_skip: 7
    }
    top: "data" top: "label"
  }
  layers {
    layer { name: "pad1" type: "padding" pad: 2 }
    bottom: "data" top: "pad1"
  }
  layers {
    layer {
      name: "conv1" type: "conv" num_output: 96 kernelsize: 11 stride: 4
      group: 2 biasterm: false
      weight_filler { type: "gaussian" std: 0.01 }
      bias_filler { type: "constant" value: 1 }
      blobs_lr: 1 blobs_lr: 2 weight_decay: 1 weight_decay: 0
    }
    bottom: "pad1" top: "conv1"
  }
  layers { layer { name: "relu1" type: "relu" } bottom: "conv1" top: "conv1" }
  layers {
    layer { name: "pool1" type: "pool" pool: AVE kernelsize: 3 stride: 2 pad: 1 }
    bottom: "conv1" top: "pool1"
  }
  layers {
    layer {
      name: "norm1" type: "lrn" local_size: 3 alpha: 0.0001 beta: 0.5 k: 2
    }
    bottom: "pool1" top: "norm1"
  }
  layers {
    layer {
      name: "fc8" type: "innerproduct" num_output: 1000
      weight_filler { type: "gaussian" std: 0.01 }
    }
    bottom: "norm1" top: "fc8"
  }
  layers {
    layer { name: "drop" type: "dropout" dropout_ratio: 0.25 }
    bottom: "fc8" top: "fc8"
  }
  layers {
    layer { name: "loss" type: "softmax_loss" }
    bottom: "fc8" bottom: "label"
  }
)";

TEST(UpgradeProtoTest, UpgradesARealisticV0Net) {
  ExpectNet(R"(
    name: "old_net"
    layer {
      name: "data" type: "Data" top: "data" top: "label"
      transform_param {
        scale: 0.5 mirror: true crop_size: 227 mean_file: "mean.binaryproto"
      }
      data_param { source: "train_db" batch_size: 256 rand_skip: 7 }
    }
    layer {
      name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
      param { lr_mult: 1 decay_mult: 1 }
      param { lr_mult: 2 decay_mult: 0 }
      convolution_param {
        num_output: 96 bias_term: false pad: 2 kernel_size: 11 group: 2
        stride: 4
        weight_filler { type: "gaussian" std: 0.01 }
        bias_filler { type: "constant" value: 1 }
      }
    }
    layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }
    layer {
      name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1"
      pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }
    }
    layer {
      name: "norm1" type: "LRN" bottom: "pool1" top: "norm1"
      lrn_param { local_size: 3 alpha: 0.0001 beta: 0.5 k: 2 }
    }
    layer {
      name: "fc8" type: "InnerProduct" bottom: "norm1" top: "fc8"
      inner_product_param {
        num_output: 1000 weight_filler { type: "gaussian" std: 0.01 }
      }
    }
    layer {
      name: "drop" type: "Dropout" bottom: "fc8" top: "fc8"
      dropout_param { dropout_ratio: 0.25 }
    }
    layer {
      name: "loss" type: "SoftmaxWithLoss" bottom: "fc8" bottom: "label"
    })",
            Upgraded(kV0Net));
}

TEST(UpgradeProtoTest, UpgradesTheOtherV0Layers) {
  ExpectNet(R"(
    layer {
      name: "i" type: "ImageData"
      image_data_param {
        source: "list" batch_size: 2 rand_skip: 3 shuffle: true
        new_height: 4 new_width: 5
      }
    }
    layer {
      name: "h" type: "HDF5Data" hdf5_data_param { source: "s" batch_size: 6 }
    }
    layer {
      name: "w" type: "WindowData"
      window_data_param {
        source: "windows" batch_size: 7 fg_threshold: 0.6 bg_threshold: 0.4
        fg_fraction: 0.3 context_pad: 16 crop_mode: "square"
      }
    }
    layer {
      name: "c" type: "Concat" bottom: "a" bottom: "b" top: "ab"
      concat_param { concat_dim: 0 }
    }
    layer { name: "g" type: "InfogainLoss" infogain_loss_param { source: "H" } }
    layer {
      name: "o" type: "HDF5Output" hdf5_output_param { file_name: "out.h5" }
    }
    layer {
      name: "n" type: "InnerProduct"
      blobs { num: 1 channels: 1 height: 1 width: 2 data: 0.5 data: 0.25 }
      inner_product_param { bias_term: false bias_filler { value: 2 } }
    })",
            Upgraded(R"(
    layers { layer {
      name: "i" type: "images" source: "list" batchsize: 2 rand_skip: 3
      shuffle_images: true new_height: 4 new_width: 5 } }
    layers { layer { name: "h" type: "hdf5_data" source: "s" batchsize: 6 } }
    layers { layer {
      name: "w" type: "window_data" source: "windows" batchsize: 7
      det_fg_threshold: 0.6 det_bg_threshold: 0.4 det_fg_fraction: 0.3
      det_context_pad: 16 det_crop_mode: "square" } }
    layers {
      layer { name: "c" type: "concat" concat_dim: 0 }
      bottom: "a" bottom: "b" top: "ab"
    }
    layers { layer { name: "g" type: "infogain_loss" source: "H" } }
    layers { layer {
      name: "o" type: "hdf5_output"
      hdf5_output_param { file_name: "out.h5" } } }
    layers { layer {
      name: "n" type: "innerproduct" biasterm: false bias_filler { value: 2 }
      blobs { num: 1 channels: 1 height: 1 width: 2 data: 0.5 data: 0.25 } } }
  )"));
}

TEST(UpgradeProtoTest, FoldsPaddingIntoPoolingAndInPlace) {
  ExpectNet(R"(
    layer { name: "input" type: "Input" top: "data"
            input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
    layer { name: "pool" type: "Pooling" bottom: "data" top: "data"
            pooling_param { pad: 1 } })",
            Upgraded(R"(
    input: "data" input_dim: 1 input_dim: 3 input_dim: 8 input_dim: 8
    layers { layer { name: "pad" type: "padding" pad: 1 }
             bottom: "data" top: "data" }
    layers { layer { name: "pool" type: "pool" } bottom: "data" top: "data" }
  )"));
}

TEST(UpgradeProtoTest, RejectsPaddingThatCannotBeFolded) {
  NetParameter net = Net(R"(
    layers { layer { name: "pad" type: "padding" pad: 1 }
             bottom: "data" top: "padded" }
    layers { layer { name: "relu" type: "relu" } bottom: "padded" top: "out" }
  )");
  const string error =
      ErrorOf([&] { UpgradeNetAsNeeded("old.prototxt", &net); });
  EXPECT_THAT(error, HasSubstr("old.prototxt: layer 'relu' of type 'relu'"));
  EXPECT_THAT(error, HasSubstr("'pad'"));
}

TEST(UpgradeProtoTest, ReportsV0SettingsOfOtherLayers) {
  ExpectNet(R"(layer { name: "r" type: "ReLU" })",
            Upgraded(R"(layers { layer { name: "r" type: "relu" group: 2 } })",
                     false));
}

TEST(UpgradeProtoTest, RejectsUnknownV0Types) {
  EXPECT_EQ("unknown old layer type 'convolve'",
            ErrorOf([] { UpgradeV0LayerType("convolve"); }));
  NetParameter net = Net(R"(
    layers { layer { name: "i" type: "images" new_height: -1 } })");
  EXPECT_THAT(ErrorOf([&] { UpgradeNetAsNeeded("f", &net); }),
              HasSubstr("f: the value -1 of new_height does not fit"));
}

TEST(UpgradeProtoTest, UpgradesARealisticV1Net) {
  ExpectNet(R"(
    name: "v1"
    force_backward: true
    layer {
      name: "data" type: "Data" top: "data" top: "label"
      include { phase: TRAIN }
      transform_param {
        scale: 0.00390625 mirror: true crop_size: 24 mean_file: "mean"
      }
      data_param { source: "db" backend: LMDB batch_size: 64 }
    }
    layer {
      name: "images" type: "ImageData" top: "images"
      transform_param { crop_size: 5 }
      image_data_param { source: "list" }
    }
    layer {
      name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
      loss_weight: 0.5
      param { name: "w" share_mode: PERMISSIVE lr_mult: 1 decay_mult: 3 }
      param { name: "b" lr_mult: 2 }
      blobs { num: 1 channels: 1 height: 1 width: 1 data: 4 }
      exclude { stage: "deploy" }
      convolution_param { num_output: 20 kernel_size: 5 }
    }
    layer { name: "loss" type: "SoftmaxWithLoss" bottom: "conv1"
            loss_param { ignore_label: 255 } })",
            Upgraded(R"(
    name: "v1"
    force_backward: true
    layers {
      name: "data" type: DATA top: "data" top: "label"
      include { phase: TRAIN }
      data_param { source: "db" backend: LMDB batch_size: 64 scale: 0.00390625
                   mean_file: "mean" crop_size: 24 mirror: true }
    }
    layers { name: "images" type: IMAGE_DATA top: "images"
             image_data_param { source: "list" crop_size: 5 } }
    layers {
      name: "conv1" type: CONVOLUTION bottom: "data" top: "conv1"
      loss_weight: 0.5
      param: "w" param: "b" blob_share_mode: PERMISSIVE
      blobs_lr: 1 blobs_lr: 2 weight_decay: 3
      blobs { num: 1 channels: 1 height: 1 width: 1 data: 4 }
      exclude { stage: "deploy" }
      convolution_param { num_output: 20 kernel_size: 5 }
    }
    layers { name: "loss" type: SOFTMAX_LOSS bottom: "conv1"
             loss_param { ignore_label: 255 } })"));
}

TEST(UpgradeProtoTest, EveryV1FieldHasAPlaceToday) {
  const auto* const v1 = V1LayerParameter::descriptor();
  for (int i = 0; i < v1->field_count(); ++i) {
    const auto* const field = v1->field(i);
    if (field->message_type() == nullptr || field->name() == "layer") continue;
    V1LayerParameter old;
    const auto* const reflection = old.GetReflection();
    field->is_repeated() ? reflection->AddMessage(&old, field)
                         : reflection->MutableMessage(&old, field);
    LayerParameter layer;
    EXPECT_TRUE(UpgradeV1LayerParameter(old, &layer));
    EXPECT_GT(layer.ByteSizeLong(), 0) << field->name() << " got lost";
  }
}

TEST(UpgradeProtoTest, EveryV1TypeHasAName) {
  const auto* const types = V1LayerParameter::LayerType_descriptor();
  std::set<string> names;
  for (int i = 0; i < types->value_count(); ++i) {
    names.insert(UpgradeV1LayerType(
        static_cast<V1LayerParameter::LayerType>(types->value(i)->number())));
  }
  EXPECT_EQ(types->value_count(), names.size());
  EXPECT_STREQ("", UpgradeV1LayerType(V1LayerParameter::NONE));
  EXPECT_STREQ("SoftmaxWithLoss",
               UpgradeV1LayerType(V1LayerParameter::SOFTMAX_LOSS));
  EXPECT_STREQ("TanH", UpgradeV1LayerType(V1LayerParameter::TANH));
  EXPECT_STREQ("Im2col", UpgradeV1LayerType(V1LayerParameter::IM2COL));
}

TEST(UpgradeProtoTest, ReportsNetsOfTwoFormats) {
  ExpectNet(R"(layer { name: "old" type: "ReLU" })", Upgraded(R"(
    layers { name: "old" type: RELU }
    layer { name: "new" type: "ReLU" })",
                                                              false));
}

TEST(UpgradeProtoTest, UpgradesInputs) {
  ExpectNet(R"(
    layer { name: "input" type: "Input" top: "data" top: "info"
            input_param { shape { dim: 1 dim: 3 dim: 32 dim: 33 }
                          shape { dim: 1 dim: 3 dim: 1 dim: 1 } } }
    layer { name: "relu" type: "ReLU" bottom: "data" top: "relu" }
    layer { name: "tanh" type: "TanH" bottom: "relu" top: "tanh" })",
            Upgraded(R"(
    input: "data" input: "info"
    input_dim: 1 input_dim: 3 input_dim: 32 input_dim: 33
    input_dim: 1 input_dim: 3 input_dim: 1 input_dim: 1
    layer { name: "relu" type: "ReLU" bottom: "data" top: "relu" }
    layer { name: "tanh" type: "TanH" bottom: "relu" top: "tanh" })"));
  ExpectNet(R"(
    layer { name: "input" type: "Input" top: "data"
            input_param { shape { dim: 5 dim: 6 } } })",
            Upgraded(R"(input: "data" input_shape { dim: 5 dim: 6 })"));
  ExpectNet("", Upgraded(R"(input: "data")"));
}

TEST(UpgradeProtoTest, RejectsInputsWithoutTheirShapes) {
  NetParameter net = Net(R"(input: "a" input: "b" input_shape { dim: 1 })");
  EXPECT_EQ("f: the net has 2 input(s) but 1 input_shape(s)",
            ErrorOf([&] { UpgradeNetAsNeeded("f", &net); }));
  net = Net(R"(input: "a" input_dim: 1 input_dim: 3)");
  EXPECT_EQ(
      "f: the net has 1 input(s) but 2 input_dim(s) instead of 4 for each",
      ErrorOf([&] { UpgradeNetAsNeeded("f", &net); }));
}

TEST(UpgradeProtoTest, FreezesBatchNormStatistics) {
  ExpectNet(R"(
    layer { name: "bn" type: "BatchNorm"
            param { name: "mean" lr_mult: 0 decay_mult: 0 }
            param { lr_mult: 0 decay_mult: 0 }
            param { lr_mult: 0 decay_mult: 0 } }
    layer { name: "scale" type: "Scale" param {} param {} param {} })",
            Upgraded(R"(
    layer { name: "bn" type: "BatchNorm"
            param { name: "mean" } param { lr_mult: 0 } param {} }
    layer { name: "scale" type: "Scale" param {} param {} param {} })"));
}

TEST(UpgradeProtoTest, LeavesTodaysNetsAlone) {
  const char* const text = R"(
    name: "now"
    layer { name: "in" type: "Input" top: "data" }
    layer { name: "bn" type: "BatchNorm" bottom: "data" top: "data" })";
  NetParameter net = Net(text);
  EXPECT_FALSE(NetNeedsUpgrade(net));
  EXPECT_TRUE(UpgradeNetAsNeeded("f", &net));
  ExpectNet(text, net);
}

TEST(UpgradeProtoTest, ReadsOldFiles) {
  const TemporaryFolder folder;
  const string file = folder / "net";
  WriteProtoToTextFile(Net(kV0Net), file);
  NetParameter net;
  ReadNetParamsFromTextFileOrDie(file, &net);
  EXPECT_EQ(Upgraded(kV0Net).DebugString(), net.DebugString());
  WriteProtoToBinaryFile(Net(kV0Net), file);
  ReadNetParamsFromBinaryFileOrDie(file, &net);
  EXPECT_EQ(Upgraded(kV0Net).DebugString(), net.DebugString());
  EXPECT_THAT(ErrorOf([&] { ReadNetParamsFromTextFileOrDie("no", &net); }),
              HasSubstr("cannot read no"));
  WriteWholeFile(file, "layers { layer { type: \"odd\" } }");
  EXPECT_EQ(file + ": unknown old layer type 'odd'",
            ErrorOf([&] { ReadNetParamsFromTextFileOrDie(file, &net); }));
}

TEST(UpgradeProtoTest, ReadsWeightsTrainedLongAgo) {
  const string file =
      PROJECT_DIR "/../shared/data/caffemodels/lenet_iter_10000.caffemodel";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  NetParameter net;
  ReadNetParamsFromBinaryFileOrDie(file, &net);
  EXPECT_FALSE(NetNeedsUpgrade(net));
  std::map<string, vector<int>> weights;
  for (const LayerParameter& layer : net.layer()) {
    for (const BlobProto& blob : layer.blobs()) {
      weights[layer.type() + " " + layer.name()].push_back(blob.data_size());
    }
  }
  EXPECT_EQ((std::map<string, vector<int>>{
                {"Convolution conv1", {20 * 25, 20}},
                {"Convolution conv2", {50 * 20 * 25, 50}},
                {"InnerProduct ip1", {500 * 800, 500}},
                {"InnerProduct ip2", {10 * 500, 10}},
            }),
            weights);
}

TEST(UpgradeProtoTest, UpgradesSolverTypes) {
  const std::map<string, string> names = {
      {"SGD", "SGD"},         {"NESTEROV", "Nesterov"}, {"ADAGRAD", "AdaGrad"},
      {"RMSPROP", "RMSProp"}, {"ADADELTA", "AdaDelta"}, {"ADAM", "Adam"}};
  for (const auto& [old, now] : names) {
    auto solver = FromText<SolverParameter>("solver_type: " + old);
    EXPECT_TRUE(SolverNeedsTypeUpgrade(solver));
    EXPECT_TRUE(UpgradeSolverAsNeeded("f", &solver));
    EXPECT_EQ(now, solver.type());
    EXPECT_FALSE(solver.has_solver_type());
    EXPECT_FALSE(SolverNeedsTypeUpgrade(solver));
  }
  auto both = FromText<SolverParameter>("solver_type: ADAM type: \"SGD\"");
  EXPECT_THAT(ErrorOf([&] { UpgradeSolverAsNeeded("f", &both); }),
              HasSubstr("f: both type and the old solver_type"));
}

TEST(UpgradeProtoTest, NamesSnapshotsAfterTheSolver) {
  const TemporaryFolder folder;
  const string file = folder / "solver.prototxt";
  const auto prefix = [&](const string& text) {
    WriteWholeFile(file, text);
    SolverParameter solver;
    ReadSolverParamsFromTextFileOrDie(file, &solver);
    return solver.snapshot_prefix();
  };
  EXPECT_EQ(folder / "solver", prefix("solver_type: ADAM"));
  EXPECT_EQ(folder / "solver",
            prefix("snapshot_prefix: \"" + folder.path() + "\""));
  EXPECT_EQ("models/lenet", prefix("snapshot_prefix: \"models/lenet\""));
}

}  // namespace caffe
