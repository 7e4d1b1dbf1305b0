// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { MutationResult as _tollgate_ledger_v1_MutationResult, MutationResult__Output as _tollgate_ledger_v1_MutationResult__Output } from '../../../tollgate/ledger/v1/MutationResult.ts';
import type { Long } from '@grpc/proto-loader';

export interface StreamMutationsResponse {
  'sequence'?: (number | string | Long);
  'results'?: (_tollgate_ledger_v1_MutationResult)[];
}

export interface StreamMutationsResponse__Output {
  'sequence': (Long);
  'results': (_tollgate_ledger_v1_MutationResult__Output)[];
}
