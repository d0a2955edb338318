// A table of a database with one row, and the statements of the documentation's fencing recipe.
#ifndef HOLDFAST_EXAMPLES_STOCK_TABLE_HPP
#define HOLDFAST_EXAMPLES_STOCK_TABLE_HPP

#include <holdfast/fencing_token.hpp>

/// Stands for a database. Each function is one statement, which a database executes as one step,
/// and tells whether it changed the row.
class stock_table {
public:
    explicit stock_table(int items) : items_{items} {}

    bool claim(holdfast::fencing_token token) {
        // UPDATE stock SET fence = :token WHERE sku = :sku AND fence <= :token
        if (fence_ > token) {
            return false;
        }
        fence_ = token;
        return true;
    }

    int items() const {
        // SELECT items FROM stock WHERE sku = :sku
        return items_;
    }

    bool write(int items, holdfast::fencing_token token) {
        // UPDATE stock SET items = :items WHERE sku = :sku AND fence = :token
        if (fence_ != token) {
            return false;
        }
        items_ = items;
        return true;
    }

private:
    int items_;
    holdfast::fencing_token fence_;
};

/// One purchase. A process may be paused between read and write, past the end of its lease.
class purchase {
public:
    purchase(stock_table& stock, holdfast::fencing_token token) : stock_{stock}, token_{token} {}

    /// Whether there is an item to sell. The claim comes first: from then on, no holder before this
    /// one can write.
    bool read() {
        if (!stock_.claim(token_)) {
            return false;
        }
        seen_ = stock_.items();
        return seen_ > 0;
    }

    /// Whether an item was sold. No: a later holder has claimed the row.
    bool write() { return stock_.write(seen_ - 1, token_); }

private:
    stock_table& stock_;
    holdfast::fencing_token token_;
    int seen_ = 0;
};

/// The mistake: the store does not see the token before the write.
class careless_purchase {
public:
    careless_purchase(stock_table& stock, holdfast::fencing_token token)
        : stock_{stock},
          token_{token} {}

    bool read() {
        seen_ = stock_.items();
        return seen_ > 0;
    }

    bool write() { return stock_.claim(token_) && stock_.write(seen_ - 1, token_); }

private:
    stock_table& stock_;
    holdfast::fencing_token token_;
    int seen_ = 0;
};

#endif
