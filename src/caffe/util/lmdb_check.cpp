#include "util/lmdb_check.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "caffe/error.hpp"

namespace caffe::db {

namespace {

// The format of LMDB 0.9 files on 64-bit machines: pages, of which the first
// two are meta pages that take turns in pointing to the roots of two trees, the
// free pages' and the records'.

constexpr uint32_t kMagic = 0xBEEFC0DE;
constexpr uint32_t kVersion = 1;
constexpr uint64_t kNoPage = ~uint64_t{0};
constexpr uint64_t kFirstDataPage = 2;

struct PageHeader {
  uint64_t number;
  uint16_t unused;
  uint16_t flags;
  uint16_t lower;  // End of the offsets of nodes, which follow the header.
  uint16_t upper;  // Start of the nodes.
};
static_assert(sizeof(PageHeader) == 16);

constexpr uint16_t kBranchPage = 0x01;
constexpr uint16_t kLeafPage = 0x02;

struct Tree {
  uint32_t page_size;  // In the first tree only.
  uint16_t flags;
  uint16_t depth;
  uint64_t branch_pages;
  uint64_t leaf_pages;
  uint64_t overflow_pages;
  uint64_t entries;
  uint64_t root;
};
static_assert(sizeof(Tree) == 48);

constexpr uint16_t kSeveralValuesAKey = 0x04;

struct Meta {
  uint32_t magic;
  uint32_t version;
  uint64_t address;
  uint64_t map_size;
  Tree free;
  Tree records;
  uint64_t last_page;
  uint64_t transaction_id;
};
static_assert(sizeof(Meta) == 136);

struct Node {
  uint16_t low;  // Of the child's page number or of the value's size.
  uint16_t high;
  uint16_t flags;  // In branch pages the highest part of the number.
  uint16_t key_size;
};
static_assert(sizeof(Node) == 8);

constexpr uint16_t kValueOnOtherPages = 0x01;
constexpr uint16_t kSeveralValues = 0x04;

// As deep as LMDB's own cursors go.
constexpr int kMaxDepth = 32;
// Databases with more pages than this (64 MiB, usually) are not walked over:
// on a slow disk it would take minutes. Their size alone must do.
constexpr uint64_t kMaxWalkedPages = 16384;

class Checker {
 public:
  Checker(const std::string& path, int file) : path_(path), file_(file) {
    struct stat status = {};
    Require(fstat(file, &status) == 0, "cannot read LMDB database ", path);
    bytes_ = status.st_size;
  }

  // Reads both meta pages.
  void CheckMeta() {
    metas_[0] = ReadMeta(0);
    page_size_ = metas_[0].free.page_size;
    Demand(std::has_single_bit(page_size_) && page_size_ >= 512 &&
           page_size_ <= 65536);
    metas_[1] = ReadMeta(page_size_);
    Demand(metas_[1].free.page_size == page_size_);
    pages_ = bytes_ / page_size_;
  }

  void CheckTrees(uint64_t transaction_id) {
    const auto* const meta = std::find_if(
        std::begin(metas_), std::end(metas_), [&](const Meta& candidate) {
          return candidate.transaction_id == transaction_id;
        });
    // A writer was quicker; what it wrote is not damaged.
    if (meta == std::end(metas_)) return;
    Demand((meta->records.flags & kSeveralValuesAKey) == 0);
    if (meta->records.branch_pages + meta->records.leaf_pages >
        kMaxWalkedPages) {
      Demand(meta->last_page < pages_);
      return;
    }
    for (const Tree& tree : {meta->free, meta->records}) {
      if (tree.root != kNoPage) Walk(tree.root, 1);
    }
  }

 private:
  void Demand(bool holds) const {
    Require(holds, "LMDB database ", path_, " is damaged or cut short");
  }

  template <typename T>
  T ReadAt(uint64_t offset) const {
    T value;
    Demand(pread(file_, &value, sizeof(value), offset) == sizeof(value));
    return value;
  }

  template <typename T>
  static T At(const std::vector<char>& page, size_t offset) {
    T value;
    std::memcpy(&value, page.data() + offset, sizeof(value));
    return value;
  }

  Meta ReadMeta(uint64_t offset) const {
    const Meta meta = ReadAt<Meta>(offset + sizeof(PageHeader));
    Demand(meta.magic == kMagic && meta.version == kVersion);
    return meta;
  }

  void DemandPages(uint64_t first, uint64_t count) const {
    Demand(first >= kFirstDataPage && first < pages_ &&
           count <= pages_ - first);
  }

  void Walk(uint64_t number, int depth) {
    DemandPages(number, 1);
    // Pages that point back would make it go on forever.
    Demand(depth <= kMaxDepth && ++walked_ <= pages_);
    std::vector<char> page(page_size_);
    Demand(pread(file_, page.data(), page_size_, number * page_size_) ==
           page_size_);
    const auto header = At<PageHeader>(page, 0);
    Demand(header.number == number && header.lower >= sizeof(header) &&
           header.lower <= header.upper && header.upper <= page_size_);
    const size_t nodes = (header.lower - sizeof(header)) / sizeof(uint16_t);
    const bool is_branch = (header.flags & kBranchPage) != 0;
    const bool is_leaf = (header.flags & kLeafPage) != 0;
    Demand(is_branch != is_leaf && nodes >= (is_branch ? 2 : 1));
    for (size_t i = 0; i < nodes; ++i) {
      const size_t at =
          At<uint16_t>(page, sizeof(header) + i * sizeof(uint16_t));
      Demand(at >= header.upper && at + sizeof(Node) <= page_size_);
      const auto node = At<Node>(page, at);
      Demand(at + sizeof(Node) + node.key_size <= page_size_);
      if (is_branch) {
        Walk(uint64_t{node.flags} << 32 | uint64_t{node.high} << 16 | node.low,
             depth + 1);
      } else {
        CheckValue(page, at, node);
      }
    }
  }

  void CheckValue(const std::vector<char>& page, size_t at, const Node& node) {
    const uint64_t size = uint64_t{node.high} << 16 | node.low;
    const size_t value = at + sizeof(Node) + node.key_size;
    Demand((node.flags & kSeveralValues) == 0);
    if ((node.flags & kValueOnOtherPages) == 0) {
      Demand(value + size <= page_size_);
      return;
    }
    Demand(value + sizeof(uint64_t) <= page_size_);
    DemandPages(At<uint64_t>(page, value),
                (sizeof(PageHeader) + size + page_size_ - 1) / page_size_);
  }

  const std::string& path_;
  const int file_;
  uint64_t bytes_ = 0;
  Meta metas_[2] = {};
  uint32_t page_size_ = 0;
  uint64_t pages_ = 0;
  uint64_t walked_ = 0;
};

}  // namespace

void CheckLmdbMeta(const std::string& path, int file) {
  Checker(path, file).CheckMeta();
}

void CheckLmdbTrees(const std::string& path, int file,
                    uint64_t transaction_id) {
  Checker checker(path, file);
  checker.CheckMeta();
  checker.CheckTrees(transaction_id);
}

}  // namespace caffe::db
