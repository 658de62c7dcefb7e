#include "layers/unrolling.hpp"

namespace caffe {

LayerParameter* Unrolling::Add(const string& type, const string& name,
                               const vector<string>& bottoms,
                               const vector<string>& tops) {
  LayerParameter* const layer = net_->add_layer();
  layer->set_type(type);
  layer->set_name(name);
  for (const string& bottom : bottoms) layer->add_bottom(bottom);
  for (const string& top : tops) layer->add_top(top);
  return layer;
}

void Unrolling::AddStates(const vector<string>& names,
                          const vector<BlobShape>& shapes) {
  LayerParameter* const layer = Add("Input", "states", {}, names);
  for (const BlobShape& shape : shapes) {
    *layer->mutable_input_param()->add_shape() = shape;
  }
}

LayerParameter* Unrolling::AddProduct(const string& name,
                                      const vector<string>& parameters,
                                      int num_output, int axis,
                                      const string& bottom, const string& top) {
  LayerParameter* const layer = Add("InnerProduct", name, {bottom}, {top});
  for (const string& parameter : parameters) {
    layer->add_param()->set_name(parameter);
  }
  InnerProductParameter* const product = layer->mutable_inner_product_param();
  product->set_num_output(num_output);
  product->set_axis(axis);
  product->set_bias_term(parameters.size() > 1);
  *product->mutable_weight_filler() = param_.weight_filler();
  if (parameters.size() > 1) {
    *product->mutable_bias_filler() = param_.bias_filler();
  }
  return layer;
}

void Unrolling::AddSlice(const string& name, const string& bottom) {
  LayerParameter* const slice = Add("Slice", name, {bottom}, {});
  slice->mutable_slice_param()->set_axis(0);
  for (int t = 1; t <= steps_; ++t) slice->add_top(AtStep(bottom, t));
}

void Unrolling::AddInputs(const string& weights, const string& bias,
                          int num_output) {
  AddSlice("cont_slice", "cont");
  const string product = weights + "_x";
  AddProduct("x_transform", {weights, bias}, num_output, 2, "x", product)
      ->add_propagate_down(true);
  if (has_static_) {
    const string fixed = weights + "_x_static";
    const string flat = fixed + "_preshape";
    AddProduct(fixed, {weights + "_static"}, num_output, 1, "x_static", flat)
        ->add_propagate_down(true);
    // With an axis for the step.
    BlobShape* const shape = Add("Reshape", fixed + "_reshape", {flat}, {fixed})
                                 ->mutable_reshape_param()
                                 ->mutable_shape();
    for (const int extent : {1, -1, num_output}) shape->add_dim(extent);
  }
  AddSlice(product + "_slice", product);
}

string Unrolling::AddContinued(int step) {
  string continued = AtStep("h_conted", step - 1);
  Add("Scale", continued, {AtStep("h", step - 1), AtStep("cont", step)},
      {continued})
      ->mutable_scale_param()
      ->set_axis(0);
  return continued;
}

void Unrolling::AddSum(const string& weights, int step, const string& other,
                       const string& top) {
  LayerParameter* const sum =
      Add("Eltwise", top, {other, AtStep(weights + "_x", step)}, {top});
  if (has_static_) sum->add_bottom(weights + "_x_static");
}

void Unrolling::AddConcat(const string& blob) {
  LayerParameter* const concat = Add("Concat", blob + "_concat", {}, {blob});
  concat->mutable_concat_param()->set_axis(0);
  for (int t = 1; t <= steps_; ++t) concat->add_bottom(AtStep(blob, t));
}

}  // namespace caffe
