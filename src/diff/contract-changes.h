/* diff/contract-changes.h - a list of changes of a server's surface, each as a finding.
 *
 * Owns its texts. */
#ifndef DIFF_CONTRACT_CHANGES_H
#define DIFF_CONTRACT_CHANGES_H

#include "diff/contract-rules.h"
#include "mcp/surface.h"
#include "trace/finding.h"

struct compare_allow;

enum { CONTRACT_USAGE_SEQS = 10 };

/* How recorded calls are affected (diff/contract-traffic.h). */
struct contract_usage {
    bool judged;        /* there were recorded calls of the tool, prompt or resource */
    bool results;       /* recorded results are counted, not calls */
    uint64_t calls;     /* recorded calls of it, or results */
    uint64_t affected;  /* of these */
    uint64_t rejected;  /* of the affected: the new schema rejects what the old one accepts */
    uint64_t undecided; /* of these: they have parts that are not judged */
    uint32_t seqs[CONTRACT_USAGE_SEQS]; /* of the first affected requests */
};

struct contract_change {
    const struct contract_rule *rule;
    enum contract_severity severity;
    enum surface_kind kind;
    struct str name; /* of the tool, prompt or template, or the URI; empty for the server */
    /* For reports. `recorded` and `live` are the values before and after. Its severity is set
     * by contract_decide(). */
    struct finding finding;
    struct str instance; /* of a schema: pattern of the values that it is about; else empty */
    const struct compare_allow *allowed; /* the user accepts the change; NULL: no */
    struct contract_usage usage;
};

struct contract_changes {
    enum contract_profile profile;
    struct str file; /* that `line` belongs to; may be empty */
    struct contract_change *at;
    size_t count, cap;
    struct arena arena;
};

void contract_changes_init(struct contract_changes *c, enum contract_profile profile,
                           struct str file);
void contract_changes_release(struct contract_changes *c);

/* The thing that changed. */
struct contract_subject {
    enum surface_kind kind;
    struct str name;
    uint64_t line;
};

/* Adds a change, unless the profile has not its rule. `path` is a location in the definition
 * as text; `before` and `after` are JSON. All texts are copied. Returns the change, valid until
 * the next one is added; NULL: not added. */
struct contract_change *contract_changes_add(struct contract_changes *c,
                                             enum contract_rule_number rule,
                                             const struct contract_subject *subject,
                                             struct str path, struct str before,
                                             struct str after);

/* Sorts by severity, kind, name, path and rule. */
void contract_changes_sort(struct contract_changes *c);

#endif
