// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Long } from '@grpc/proto-loader';

export interface TokenUsage {
  'inputTokens'?: (number | string | Long);
  'cachedInputTokens'?: (number | string | Long);
  'cacheWriteTokens'?: (number | string | Long);
  'cacheWriteHourTokens'?: (number | string | Long);
  'outputTokens'?: (number | string | Long);
  'units'?: (number | string | Long);
  '_units'?: "units";
}

export interface TokenUsage__Output {
  'inputTokens': (Long);
  'cachedInputTokens': (Long);
  'cacheWriteTokens': (Long);
  'cacheWriteHourTokens': (Long);
  'outputTokens': (Long);
  'units'?: (Long);
  '_units'?: "units";
}
