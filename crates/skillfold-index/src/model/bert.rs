//! A network of the BERT kind, as far as one text at a time needs it.

use candle_core::{D, Device, Result, Tensor};
use candle_nn::{
    Embedding, LayerNorm, Linear, Module, VarBuilder, embedding, layer_norm, linear, ops,
};

/// How a network is built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) words: usize,
    pub(super) width: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    /// The width between the two halves of a layer.
    pub(super) inner: usize,
    /// Places of a text that have a vector.
    pub(super) places: usize,
    pub(super) kinds: usize,
    /// What keeps a spread from being 0.
    pub(super) least: f64,
}

/// A network.
pub(super) struct Bert {
    words: Embedding,
    /// What each place of a text adds.
    places: Tensor,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

impl Bert {
    /// Takes the weights of a network.
    pub(super) fn new(shape: &Shape, weights: &VarBuilder<'_>) -> Result<Self> {
        // Some files have the network inside of another.
        let inside = weights.pp("bert");
        let is_inside = inside.contains_tensor("embeddings.word_embeddings.weight");
        let weights = if is_inside { &inside } else { weights };
        let first = weights.pp("embeddings");
        let places = embedding(shape.places, shape.width, first.pp("position_embeddings"))?;
        let kinds = embedding(shape.kinds, shape.width, first.pp("token_type_embeddings"))?;
        // There is one text, so that all of its words are of the first kind.
        let kind = kinds.embeddings().get(0)?;
        let layers = weights.pp("encoder.layer");
        let layers = (0..shape.layers).map(|number| Layer::new(shape, &layers.pp(number)));
        Ok(Self {
            words: embedding(shape.words, shape.width, first.pp("word_embeddings"))?,
            places: places.embeddings().broadcast_add(&kind)?,
            norm: layer_norm(shape.width, shape.least, first.pp("LayerNorm"))?,
            layers: layers.collect::<Result<_>>()?,
        })
    }

    /// Returns a vector for each part of a text.
    pub(super) fn run(&self, text: &[u32]) -> Result<Tensor> {
        let words = self.words.forward(&Tensor::new(text, &Device::Cpu)?)?;
        let places = self.places.narrow(0, 0, text.len())?;
        let mut words = self.norm.forward(&(words + places)?)?;
        for layer in &self.layers {
            words = layer.run(&words)?;
        }
        Ok(words)
    }
}

/// A layer: each part of the text looks at all others, and then at itself.
struct Layer {
    heads: usize,
    query: Linear,
    key: Linear,
    value: Linear,
    looked: Linear,
    looked_norm: LayerNorm,
    wide: Linear,
    narrow: Linear,
    norm: LayerNorm,
}

impl Layer {
    fn new(shape: &Shape, weights: &VarBuilder<'_>) -> Result<Self> {
        let (width, inner) = (shape.width, shape.inner);
        let own = weights.pp("attention.self");
        let looked = weights.pp("attention.output");
        let last = weights.pp("output");
        Ok(Self {
            heads: shape.heads,
            query: linear(width, width, own.pp("query"))?,
            key: linear(width, width, own.pp("key"))?,
            value: linear(width, width, own.pp("value"))?,
            looked: linear(width, width, looked.pp("dense"))?,
            looked_norm: layer_norm(width, shape.least, looked.pp("LayerNorm"))?,
            wide: linear(width, inner, weights.pp("intermediate.dense"))?,
            narrow: linear(inner, width, last.pp("dense"))?,
            norm: layer_norm(width, shape.least, last.pp("LayerNorm"))?,
        })
    }

    fn run(&self, words: &Tensor) -> Result<Tensor> {
        let (count, width) = words.dims2()?;
        let parted = |linear: &Linear| {
            let parts = linear.forward(words)?;
            let parts = parts.reshape((count, self.heads, width / self.heads))?;
            parts.transpose(0, 1)?.contiguous()
        };
        let (query, key, value) = (
            parted(&self.query)?,
            parted(&self.key)?,
            parted(&self.value)?,
        );
        let alike = query.matmul(&key.transpose(1, 2)?)?;
        let scale = 1.0 / real(width / self.heads).sqrt();
        let shares = ops::softmax(&(alike * scale)?, D::Minus1)?;
        let looked = shares.matmul(&value)?;
        let looked = looked
            .transpose(0, 1)?
            .contiguous()?
            .reshape((count, width))?;
        let looked = (self.looked.forward(&looked)? + words)?;
        let looked = self.looked_norm.forward(&looked)?;
        let wide = self.wide.forward(&looked)?.gelu_erf()?;
        self.norm.forward(&(self.narrow.forward(&wide)? + looked)?)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the width of a head is a small number"
)]
fn real(width: usize) -> f64 {
    width as f64
}
