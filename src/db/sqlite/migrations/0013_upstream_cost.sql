ALTER TABLE `accounts` ADD `markup` integer;--> statement-breakpoint
ALTER TABLE `holds` ADD `upstream_cost` integer;--> statement-breakpoint
ALTER TABLE `usage_days` ADD `upstream_cost_high` integer;--> statement-breakpoint
ALTER TABLE `usage_days` ADD `upstream_cost_low` integer;--> statement-breakpoint
ALTER TABLE `usage_days` ADD `costed_high` integer;--> statement-breakpoint
ALTER TABLE `usage_days` ADD `costed_low` integer;--> statement-breakpoint
ALTER TABLE `usage_hours` ADD `upstream_cost_high` integer;--> statement-breakpoint
ALTER TABLE `usage_hours` ADD `upstream_cost_low` integer;--> statement-breakpoint
ALTER TABLE `usage_hours` ADD `costed_high` integer;--> statement-breakpoint
ALTER TABLE `usage_hours` ADD `costed_low` integer;--> statement-breakpoint
ALTER TABLE `usage_total_days` ADD `upstream_cost_high` integer;--> statement-breakpoint
ALTER TABLE `usage_total_days` ADD `upstream_cost_low` integer;--> statement-breakpoint
ALTER TABLE `usage_total_days` ADD `costed_high` integer;--> statement-breakpoint
ALTER TABLE `usage_total_days` ADD `costed_low` integer;--> statement-breakpoint
ALTER TABLE `usage_total_hours` ADD `upstream_cost_high` integer;--> statement-breakpoint
ALTER TABLE `usage_total_hours` ADD `upstream_cost_low` integer;--> statement-breakpoint
ALTER TABLE `usage_total_hours` ADD `costed_high` integer;--> statement-breakpoint
ALTER TABLE `usage_total_hours` ADD `costed_low` integer;--> statement-breakpoint
ALTER TABLE `dropped_receipts` ADD `upstream_cost_high` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `dropped_receipts` ADD `upstream_cost_low` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `dropped_receipts` ADD `costed_high` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `dropped_receipts` ADD `costed_low` integer DEFAULT 0 NOT NULL;
